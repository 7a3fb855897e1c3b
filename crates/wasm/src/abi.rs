//! The functions of the WebAssembly module.
//!
//! A text is passed as an address and a number of bytes, in memory from [`becalm_take`]. A reply is the
//! address of its length (4 bytes, little-endian), which is followed by the bytes. [`becalm_give_back`] frees
//! both. The reply of a run consists of the length of its JSON (4 bytes), the JSON and the payload.
//!
//! The page provides two functions: `progress(share, packet_hops)`, which returns 0 to continue, and
//! `panicked(address, length)`, which receives the text of a panic.
#![allow(unsafe_code)]

use becalm_scenario::Progress;

/// Packet-hops between two calls of `progress`: about 10 ms.
const HOPS_AT_ONCE: u64 = 16_384;

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "becalm")]
unsafe extern "C" {
    fn progress(share: f64, packet_hops: f64) -> i32;
    fn panicked(text: *const u8, length: usize);
}

#[cfg(not(target_family = "wasm"))]
unsafe fn progress(_share: f64, _packet_hops: f64) -> i32 {
    0
}

/// Allocates memory of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn becalm_take(length: usize) -> *mut u8 {
    #[cfg(target_family = "wasm")]
    {
        static HOOK: std::sync::Once = std::sync::Once::new();
        HOOK.call_once(|| std::panic::set_hook(Box::new(|panic| tell(&panic.to_string()))));
    }
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Frees memory of `length` bytes.
///
/// # Safety
/// The address and the length must be those of memory from [`becalm_take`], or of a reply including its first
/// 4 bytes, that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn becalm_give_back(address: *mut u8, length: usize) {
    // SAFETY: guaranteed by the caller: this is a boxed slice of this length without another owner.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(address, length)) });
}

/// Calls [`crate::check`].
///
/// # Safety
/// The text must be in memory from [`becalm_take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn becalm_check(text: *const u8, length: usize) -> *mut u8 {
    // SAFETY: guaranteed by the caller.
    let text = unsafe { read(text, length) };
    answer(&[crate::check(&text).to_string().as_bytes()])
}

/// Calls [`crate::run`].
///
/// # Safety
/// The text must be in memory from [`becalm_take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn becalm_run(text: *const u8, length: usize, replication: u32, control: u32) -> *mut u8 {
    // SAFETY: guaranteed by the caller.
    let text = unsafe { read(text, length) };
    let mut next = 0;
    let mut report = |now: &Progress| {
        if now.packet_hops < next {
            return true;
        }
        next = now.packet_hops + HOPS_AT_ONCE;
        let share = now.time.as_secs() / now.duration.as_secs();
        // SAFETY: a function of the page that takes two numbers.
        unsafe { progress(share, now.packet_hops as f64) == 0 }
    };
    let (reply, payload) = crate::run(&text, replication, control != 0, &mut report);
    let reply = reply.to_string();
    answer(&[&(reply.len() as u32).to_le_bytes(), reply.as_bytes(), &payload])
}

/// Calls [`crate::versus`].
///
/// # Safety
/// The text must be in memory from [`becalm_take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn becalm_versus(text: *const u8, length: usize) -> *mut u8 {
    // SAFETY: guaranteed by the caller.
    let text = unsafe { read(text, length) };
    answer(&[crate::versus(&text).as_bytes()])
}

/// Calls [`crate::version`].
#[unsafe(no_mangle)]
pub extern "C" fn becalm_version() -> *mut u8 {
    answer(&[crate::version().as_bytes()])
}

/// The text at an address. Invalid UTF-8 is replaced.
///
/// # Safety
/// The memory must have `length` bytes.
unsafe fn read(text: *const u8, length: usize) -> String {
    // SAFETY: guaranteed by the caller.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text, length) }).into_owned()
}

fn answer(parts: &[&[u8]]) -> *mut u8 {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut whole = Vec::with_capacity(length + 4);
    whole.extend((length as u32).to_le_bytes());
    parts.iter().for_each(|part| whole.extend_from_slice(part));
    Box::into_raw(whole.into_boxed_slice()).cast()
}

#[cfg(target_family = "wasm")]
fn tell(text: &str) {
    // SAFETY: a function of the page that reads these bytes.
    unsafe { panicked(text.as_ptr(), text.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a reply, which is freed.
    fn taken(address: *mut u8) -> Vec<u8> {
        // SAFETY: a reply begins with its length.
        unsafe {
            let length = u32::from_le_bytes(std::ptr::read(address.cast::<[u8; 4]>())) as usize;
            let bytes = std::slice::from_raw_parts(address.add(4), length).to_vec();
            becalm_give_back(address, length + 4);
            bytes
        }
    }

    #[test]
    fn texts_go_in_and_answers_come_out() {
        let text = b"[run]\nduration = 3\n";
        let address = becalm_take(text.len());
        // SAFETY: memory of that length.
        let reply = unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), address, text.len());
            let reply = becalm_check(address, text.len());
            becalm_give_back(address, text.len());
            taken(reply)
        };
        let reply: serde_json::Value = serde_json::from_slice(&reply).unwrap();
        let lines: Vec<_> = reply["mistakes"].as_array().unwrap().iter().map(|mistake| &mistake["line"]).collect();
        assert!(lines.contains(&&serde_json::json!(2)), "{reply}");
        assert_eq!(taken(becalm_version()), crate::version().as_bytes());
    }
}
