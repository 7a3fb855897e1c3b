//! The wire format of protobuf.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding/>.

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// Reads bytes from the front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    length: usize,
}

/// The reason that bytes are not a message.
pub(super) type Broken = &'static str;

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, length: bytes.len() }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Number of bytes that have been read.
    pub fn place(&self) -> usize {
        self.length - self.bytes.len()
    }

    /// Reads a number with seven bits per byte.
    pub fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0u64;
        for (at, &byte) in self.bytes.iter().take(10).enumerate() {
            // The tenth byte has space for one bit.
            if at == 9 && byte > 1 {
                return Err("a number has more than 64 bits");
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.bytes = &self.bytes[at + 1..];
                return Ok(value);
            }
        }
        Err(if self.bytes.len() < 10 { "it ends within a number" } else { "a number has more than 64 bits" })
    }

    /// Reads bytes that are preceded by their number.
    pub fn delimited(&mut self) -> Result<&'a [u8], Broken> {
        let length = self.varint()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or("it ends within a message or a value")?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Reads the number and value of the next field; `None` at the end.
    pub fn field(&mut self) -> Result<Option<(u64, Value<'a>)>, Broken> {
        if self.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().expect("8 bytes"))),
            2 => Value::Bytes(self.delimited()?),
            5 => Value::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().expect("4 bytes"))),
            _ => return Err("a field has an unknown protobuf type"),
        };
        if key >> 3 == 0 {
            return Err("a field has the number 0");
        }
        Ok(Some((key >> 3, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_bits_per_byte() {
        for (bytes, number) in
            [(&[0][..], 0), (&[0x96, 1], 150), (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], u64::MAX)]
        {
            assert_eq!(Reader::new(bytes).varint(), Ok(number));
        }
        assert_eq!(Reader::new(&[0x80; 3]).varint(), Err("it ends within a number"));
        assert_eq!(Reader::new(&[0x80; 11]).varint(), Err("a number has more than 64 bits"));
        assert_eq!(Reader::new(&[]).varint(), Err("it ends within a number"));
    }

    #[test]
    fn fields_have_numbers_and_types() {
        let mut reader = Reader::new(&[0x08, 5, 0x12, 2, b'h', b'i', 0x1d, 1, 0, 0, 0, 0x21, 2, 0, 0, 0, 0, 0, 0, 0]);
        let mut fields = Vec::new();
        while let Some(field) = reader.field().unwrap() {
            fields.push(field);
        }
        let expected =
            [(1, Value::Varint(5)), (2, Value::Bytes(b"hi")), (3, Value::Fixed32(1)), (4, Value::Fixed64(2))];
        assert_eq!(fields, expected);
        assert!(Reader::new(&[0x0b]).field().is_err());
        assert!(Reader::new(&[0x12, 9, 1]).field().is_err());
        assert!(Reader::new(&[0x00, 1]).field().is_err());
    }
}
