//! Declarations of schemes, read from memory.
#![allow(unsafe_code, reason = "a declaration is found by its address")]

use std::ffi::{CStr, c_char};

use crate::abi;
use crate::parameters::{Kind, Parameter, Value};
use crate::scheme::{Functions, Objects, Scheme, Seam};

/// Largest number of bytes of state in a declaration. Larger numbers indicate a wrong address.
const MOST_STATE: u64 = 1 << 24;
/// Largest number of parameters, and of words of a parameter.
const MOST_LISTED: u64 = 1000;
/// Largest number of bytes of telemetry in a packet, more than any header has room for.
const MOST_TRAIL: u64 = 1 << 16;

/// Reads the declaration of a scheme. `objects` replaces its functions if it has no function table.
///
/// # Safety
/// The address must point to a `becalm_scheme` of this version of the interface; for another version, at
/// least its first four bytes must be readable. The declaration and everything that it points to must never
/// be freed.
///
/// # Errors
/// The reason that the declaration is refused.
pub unsafe fn scheme(
    address: usize,
    origin: &str,
    sha256: &str,
    objects: Option<Box<dyn Objects>>,
) -> Result<Scheme, String> {
    if address == 0 {
        return Err("declares no scheme".to_string());
    }
    // SAFETY: guaranteed by the caller. The version is read first.
    let version = unsafe { *(address as *const u32) };
    if version != abi::ABI {
        return Err(format!(
            "was made for version {version} of becalm's C interface, but this becalm has version {}; compile it with \
             the header that `becalm new-scheme --header` prints",
            abi::ABI
        ));
    }
    // SAFETY: the version is right, so the layout is as declared.
    let raw = unsafe { *(address as *const abi::Scheme) };
    let seam = Seam::numbered(raw.seam).ok_or_else(|| format!("has an unknown seam: {}", raw.seam))?;
    let name = text(raw.name)?;
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(is_letter) {
        return Err(format!("has the name {name:?}; names may contain only lowercase letters, digits and _"));
    }
    let count = listed(raw.parameters, raw.parameter_count, "parameters")?;
    // SAFETY: as above.
    let parameters =
        (0..count).map(|i| parameter(unsafe { &*raw.parameters.add(i) })).collect::<Result<Vec<_>, _>>()?;
    let functions = match objects {
        Some(objects) => {
            bounded(objects.properties().trail_bytes.into(), MOST_TRAIL, "bytes of telemetry")?;
            Functions::Objects(objects)
        }
        None => functions(&raw, seam)?,
    };
    let (origin, sha256) = (origin.to_string(), sha256.to_string());
    Ok(Scheme { seam, name, doc: text(raw.doc)?, parameters, origin, sha256, functions })
}

fn functions(raw: &abi::Scheme, seam: Seam) -> Result<Functions, String> {
    let needs = |name: &str| format!("lacks the required function `{name}`");
    if raw.functions.is_null() {
        return Err("has no functions".to_string());
    }
    match seam {
        Seam::Response => {
            // SAFETY: the seam determines the type of the table.
            let table = unsafe { *raw.functions.cast::<abi::Response>() };
            bounded(table.state_bytes, MOST_STATE, "bytes of state")?;
            bounded(table.trail_bytes.into(), MOST_TRAIL, "bytes of telemetry")?;
            table.start.ok_or_else(|| needs("start"))?;
            table.ack.ok_or_else(|| needs("ack"))?;
            Ok(Functions::Response(table))
        }
        Seam::Marking => {
            // SAFETY: as above.
            let table = unsafe { *raw.functions.cast::<abi::Marker>() };
            bounded(table.state_bytes.max(table.lane_bytes), MOST_STATE, "bytes of state")?;
            table.departing.ok_or_else(|| needs("departing"))?;
            if table.attention > 4 {
                return Err(format!("has an unknown attention: {}", table.attention));
            }
            Ok(Functions::Marking(table))
        }
        Seam::Echo => {
            // SAFETY: as above.
            let table = unsafe { *raw.functions.cast::<abi::Echo>() };
            table.answer.ok_or_else(|| needs("answer"))?;
            Ok(Functions::Echo(table))
        }
    }
}

fn bounded(count: u64, most: u64, what: &str) -> Result<usize, String> {
    if count <= most { Ok(count as usize) } else { Err(format!("declares {count} {what}; at most {most}")) }
}

/// The length of a list.
fn listed<T>(list: *const T, count: u64, what: &str) -> Result<usize, String> {
    if list.is_null() && count > 0 {
        return Err(format!("declares {count} {what}, but no list of them"));
    }
    bounded(count, MOST_LISTED, what)
}

fn text(pointer: *const c_char) -> Result<String, String> {
    if pointer.is_null() {
        return Ok(String::new());
    }
    // SAFETY: the header requires zero-terminated texts.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(str::to_string).map_err(|_| "has text that is not UTF-8".to_string())
}

fn parameter(raw: &abi::Parameter) -> Result<Parameter, String> {
    let name = text(raw.name)?;
    let kind = match raw.kind {
        abi::KIND_NUMBER => Kind::Number,
        abi::KIND_INTEGER => Kind::Integer,
        abi::KIND_TRUTH => Kind::Truth,
        abi::KIND_TIME => Kind::Time,
        abi::KIND_WORD => {
            let count = listed(raw.words, u64::from(raw.word_count), "words")?;
            // SAFETY: the list has the declared number of words.
            Kind::Word((0..count).map(|i| text(unsafe { *raw.words.add(i) })).collect::<Result<_, _>>()?)
        }
        other => return Err(format!("parameter `{name}` has an unknown kind: {other}")),
    };
    // SAFETY: the kind determines the field, and any bits are a valid number and a valid integer.
    let value = |value: abi::Value| match kind {
        Kind::Number => Value::Number(unsafe { value.number }),
        _ => Value::Integer(unsafe { value.integer }),
    };
    let (fallback, least, most) = (value(raw.fallback), value(raw.least), value(raw.most));
    let (unit, doc) = (text(raw.unit)?, text(raw.doc)?);
    let parameter = Parameter { name, unit, doc, kind, fallback, least, most };
    let is_word = match (&parameter.kind, fallback) {
        (Kind::Word(words), Value::Integer(place)) => (0..words.len() as i64).contains(&place),
        _ => true,
    };
    if !is_word || !parameter.holds(fallback) {
        let (name, range) = (&parameter.name, parameter.range());
        return Err(format!("parameter `{name}` has a default that is not {range}"));
    }
    Ok(parameter)
}
