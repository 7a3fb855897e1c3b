//! Functions of the WebAssembly module.
//!
//! A text goes in as the address and the number of its bytes, in memory from [`becalm_take`]. An answer is the address of
//! its length, 4 bytes, little-endian, and of the bytes after it; [`becalm_give_back`] frees either. The answer of a run
//! is the length of its JSON, 4 bytes, then the JSON, then the payload.
//!
//! The page imports two functions: `progress(share, packet_hops)`, which answers 0 to go on, and `panicked(address,
//! length)`, which gets the text of a panic.
#![allow(unsafe_code)]

use becalm_scenario::Progress;

/// Packet-hops between two calls of the page: about 10 ms.
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
/// The address and the length are those of [`becalm_take`], or of an answer including its first 4 bytes, not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn becalm_give_back(address: *mut u8, length: usize) {
    // SAFETY: by the contract, this is a boxed slice of this length that nothing else owns.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(address, length)) });
}

/// [`crate::check`].
///
/// # Safety
/// The text lies in memory from [`becalm_take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn becalm_check(text: *const u8, length: usize) -> *mut u8 {
    // SAFETY: by the contract.
    let text = unsafe { read(text, length) };
    answer(&[crate::check(&text).to_string().as_bytes()])
}

/// [`crate::run`].
///
/// # Safety
/// The text lies in memory from [`becalm_take`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn becalm_run(text: *const u8, length: usize, replication: u32, control: u32) -> *mut u8 {
    // SAFETY: by the contract.
    let text = unsafe { read(text, length) };
    let mut next = 0;
    let mut report = |now: &Progress| {
        if now.packet_hops < next {
            return true;
        }
        next = now.packet_hops + HOPS_AT_ONCE;
        let share = now.time.as_secs() / now.duration.as_secs();
        // SAFETY: a function of the page with two numbers.
        unsafe { progress(share, now.packet_hops as f64) == 0 }
    };
    let (reply, payload) = crate::run(&text, replication, control != 0, &mut report);
    let reply = reply.to_string();
    answer(&[&(reply.len() as u32).to_le_bytes(), reply.as_bytes(), &payload])
}

/// [`crate::version`].
#[unsafe(no_mangle)]
pub extern "C" fn becalm_version() -> *mut u8 {
    answer(&[crate::version().as_bytes()])
}

/// The text at an address; what is not UTF-8 is replaced.
///
/// # Safety
/// The memory has `length` bytes.
unsafe fn read(text: *const u8, length: usize) -> String {
    // SAFETY: by the contract.
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

    /// The bytes of an answer, which is freed.
    fn taken(address: *mut u8) -> Vec<u8> {
        // SAFETY: an answer begins with its length.
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
