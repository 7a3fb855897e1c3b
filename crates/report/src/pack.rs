//! The format of a payload: a header in JSON and typed arrays, deflated.
//!
//! An inflated payload consists of three parts: 8 bytes with the length of the header, little-endian; the header in
//! JSON, padded with spaces to a multiple of 8 bytes; and the arrays, little-endian, each aligned to 8 bytes. In the
//! header, `arrays` contains each array's type, offset after the header, number of values and filter.

use serde_json::{Value, json};

/// Version of the format, `format` in the header.
pub const FORMAT: u32 = 1;
/// Compression effort, of at most 10. Large payloads get a lower one, which halves the time at 3% more size.
const EFFORT: u8 = 9;
const EFFORT_FOR_MANY: u8 = 6;
const MANY: usize = 4_000_000;

/// Transformation of an array that improves its compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// No transformation.
    None,
    /// Rows of this many bytes, each stored as its difference modulo 256 from the previous row.
    Difference(usize),
    /// The first bytes of all values, then their second bytes, and so on.
    Planes,
}

impl Filter {
    fn name(self) -> &'static str {
        match self {
            Filter::None => "none",
            Filter::Difference(_) => "difference",
            Filter::Planes => "planes",
        }
    }

    fn width(self) -> usize {
        if let Filter::Difference(width) = self { width } else { 0 }
    }

    fn apply(self, bytes: &mut Vec<u8>, size: usize) {
        match self {
            Filter::None => {}
            Filter::Difference(width) => {
                for at in (width..bytes.len()).rev() {
                    bytes[at] = bytes[at].wrapping_sub(bytes[at - width]);
                }
            }
            Filter::Planes => {
                let values = bytes.len() / size;
                *bytes = (0..bytes.len()).map(|at| bytes[at % values * size + at / values]).collect();
            }
        }
    }
}

/// A payload under construction.
#[derive(Clone, Debug, Default)]
pub struct Pack {
    directory: Vec<Value>,
    data: Vec<u8>,
}

impl Pack {
    /// Adds bytes; returns their reference for the header.
    pub fn bytes(&mut self, values: &[u8], filter: Filter) -> Value {
        self.add("u8", 1, values.to_vec(), filter)
    }

    /// Adds numbers of 16 bits.
    pub fn shorts(&mut self, values: &[u16]) -> Value {
        self.add("u16", 2, values.iter().flat_map(|value| value.to_le_bytes()).collect(), Filter::Planes)
    }

    /// Adds numbers of 32 bits.
    pub fn words(&mut self, values: &[u32]) -> Value {
        self.add("u32", 4, values.iter().flat_map(|value| value.to_le_bytes()).collect(), Filter::Planes)
    }

    /// Adds real numbers, rounded to 24 bits with a 15-bit fraction: four digits.
    pub fn reals(&mut self, values: &[f64]) -> Value {
        let rounded = |value: &f64| {
            let bits = (*value as f32).to_bits();
            if value.is_finite() { bits.saturating_add(1 << 7) & !0xff } else { bits }
        };
        self.add("f32", 4, values.iter().flat_map(|value| rounded(value).to_le_bytes()).collect(), Filter::Planes)
    }

    fn add(&mut self, kind: &str, size: usize, mut bytes: Vec<u8>, filter: Filter) -> Value {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        let (offset, length) = (self.data.len(), bytes.len() / size);
        filter.apply(&mut bytes, size);
        self.data.extend(bytes);
        let entry =
            json!({"type": kind, "at": offset, "length": length, "filter": filter.name(), "width": filter.width()});
        self.directory.push(entry);
        json!({"$": self.directory.len() - 1})
    }

    /// The undeflated payload with this header, which contains the arrays' references.
    pub fn whole(self, mut header: Value) -> Vec<u8> {
        header["format"] = FORMAT.into();
        header["arrays"] = self.directory.into();
        let mut text = header.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut whole = (text.len() as u64).to_le_bytes().to_vec();
        whole.extend(text);
        whole.extend(self.data);
        whole
    }
}

/// A function that deflates bytes. A page that reads payloads from memory passes none and so does not include its code.
pub type Deflate = fn(&[u8]) -> Vec<u8>;

/// Compresses bytes as raw deflate.
pub fn deflated(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec(bytes, if bytes.len() > MANY { EFFORT_FOR_MANY } else { EFFORT })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_length_header_and_aligned_arrays() {
        let mut pack = Pack::default();
        let first = pack.bytes(&[7, 9, 6, 9], Filter::Difference(2));
        let second = pack.words(&[1, 0x0201]);
        let whole = pack.whole(json!({"a": first, "b": second}));
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(&deflated(&whole)).unwrap(), whole);
        let length = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
        assert_eq!(length % 8, 0);
        let header: Value = serde_json::from_slice(&whole[8..8 + length]).unwrap();
        assert_eq!(header["a"], json!({"$": 0}));
        assert_eq!(header["arrays"][1], json!({"type": "u32", "at": 8, "length": 2, "filter": "planes", "width": 0}));
        let data = &whole[8 + length..];
        assert_eq!(data[..4], [7, 9, 255, 0]);
        assert_eq!(data[8..], [1, 1, 0, 2, 0, 0, 0, 0]);
    }

    #[test]
    fn reals_keep_four_digits() {
        let mut pack = Pack::default();
        pack.reals(&[1.0, -0.1, f64::NAN, 3.33333e9, f64::INFINITY]);
        let read = |at: usize| f32::from_le_bytes([0, 1, 2, 3].map(|plane| pack.data[plane * 5 + at]));
        assert_eq!((read(0), read(4)), (1.0, f32::INFINITY));
        assert!(read(2).is_nan());
        assert!((read(1) + 0.1).abs() < 1e-5 && (read(3) / 3.33333e9 - 1.0).abs() < 2e-5);
    }
}
