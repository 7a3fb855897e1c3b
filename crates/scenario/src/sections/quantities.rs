//! Amounts with a unit, as in scenarios: `"1 GB/s"`, `"2048 B"`, `"4 packets"`.

use becalm_engine::Time;
use becalm_fabric::{CREDIT_BYTES, PauseResponse, Rate};
use becalm_schema::field::{Field, refuse};
use becalm_schema::{Errors, Node, Ranged, SIZES, Value, quantity, seconds};
use becalm_workload::LARGEST_MESSAGE;
use serde_json::json;

const RATES: [(&str, f64); 8] = [
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("Mb/s", 1e6),
    ("Gb/s", 1e9),
    ("Tb/s", 1e12),
    ("B/s", 8.0),
    ("MB/s", 8e6),
    ("GB/s", 8e9),
];
const PACKETS: [(&str, f64); 2] = [("packet", 1.0), ("packets", 1.0)];

/// The word for "no limit".
const UNLIMITED: &str = "unlimited";

/// Rates of the slowest and the fastest link, in bits per second. Times are precise enough within this range.
const RATE_LIMITS: std::ops::RangeInclusive<f64> = 1e6..=1e13;

/// The data rate of a link, with its unit as written.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRate {
    bits_per_second: f64,
    text: String,
}

impl LinkRate {
    /// A number of gigabytes per second.
    pub fn gigabytes(number: f64) -> LinkRate {
        LinkRate { bits_per_second: number * 8e9, text: format!("{number} GB/s") }
    }

    /// The rate as the fabric represents it.
    pub fn rate(&self) -> Rate {
        Rate::from_bits_per_second(self.bits_per_second)
    }
}

impl Field for LinkRate {
    fn expects() -> String {
        "a rate with its unit, such as \"1 GB/s\" or \"100 Gb/s\"".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<LinkRate> {
        let Some((text, rate)) = node.text().and_then(|text| Some((text, quantity(text, &RATES)?))) else {
            return refuse(node, errors);
        };
        if !RATE_LIMITS.contains(&rate) {
            errors.add(node, "must be between 1 Mb/s and 10 Tb/s", "");
            return None;
        }
        Some(LinkRate { bits_per_second: rate, text: text.trim().to_string() })
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self.text)
    }

    fn json_schema() -> serde_json::Value {
        json!({"type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*([kMGT]?b/s|[MG]?B/s)\s*$"})
    }
}

/// A whole, non-negative number of bytes; `None` if the text is something else.
fn whole_bytes(text: &str) -> Option<u64> {
    let bytes = quantity(text, &SIZES)?;
    // Larger floating-point numbers do not have every whole number.
    (bytes >= 0.0 && bytes <= 2f64.powi(53) && bytes.fract() == 0.0).then_some(bytes as u64)
}

/// A number of bytes with the largest unit that keeps it whole and short.
fn in_words(bytes: u64) -> String {
    match bytes {
        n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{} MiB", n >> 20),
        n if n >= 1 << 14 && n % (1 << 10) == 0 => format!("{} KiB", n >> 10),
        n => format!("{n} B"),
    }
}

/// A number of bytes in a packet or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u32);

/// A number of bytes in a message, or in a vector of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payload(pub u64);

macro_rules! bytes {
    ($type:ident, $number:ty, $last:expr, $beyond:literal) => {
        impl Field for $type {
            fn expects() -> String {
                "a whole number of bytes with its unit, such as \"2048 B\" or \"64 KiB\"".to_string()
            }

            fn read(node: &Node, errors: &mut Errors) -> Option<$type> {
                let text = node.text().unwrap_or_default();
                if quantity(text, &SIZES).is_some_and(|bytes| bytes > $last as f64) {
                    errors.add(node, $beyond, "");
                    return None;
                }
                whole_bytes(text).map(|bytes| $type(bytes as $number)).or_else(|| refuse(node, errors))
            }

            fn to_json(&self) -> serde_json::Value {
                json!(in_words(self.0.into()))
            }

            fn json_schema() -> serde_json::Value {
                json!({"type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*(B|[kMGT]B|[KMGT]iB)\s*$"})
            }
        }

        impl Ranged for $type {
            type Bound = $type;
            fn within(&self, range: &impl std::ops::RangeBounds<$type>) -> bool {
                range.contains(self)
            }
        }
    };
}

bytes!(Bytes, u32, u32::MAX, "must be below 4 GiB");
bytes!(Payload, u64, LARGEST_MESSAGE, "must be at most 1 TiB");

/// The size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// As large as the cables need.
    Auto,
    /// Space for any number of packets.
    Unlimited,
    /// Space for this number of full packets. Smaller packets occupy less.
    Packets(u32),
    /// This number of slots. Each packet occupies one, whatever its size.
    Slots(u32),
    /// Bytes.
    Bytes(u32),
}

const AUTO: &str = "auto";
const SLOTS: [(&str, f64); 2] = [("slot", 1.0), ("slots", 1.0)];

impl Buffer {
    /// Reads a size; `None` if the text is none.
    fn parse(text: &str) -> Option<Buffer> {
        let count = |units| quantity(text, units).filter(|n| *n >= 0.0 && *n < f64::from(u32::MAX) && n.fract() == 0.0);
        match text {
            AUTO => Some(Buffer::Auto),
            UNLIMITED => Some(Buffer::Unlimited),
            _ => count(&PACKETS)
                .map(|n| Buffer::Packets(n as u32))
                .or_else(|| count(&SLOTS).map(|n| Buffer::Slots(n as u32)))
                .or_else(|| u32::try_from(whole_bytes(text)?).ok().map(Buffer::Bytes)),
        }
    }

    /// Whether no packet fits, whatever its size.
    fn is_empty(self) -> bool {
        match self {
            Buffer::Auto | Buffer::Unlimited => false,
            Buffer::Packets(n) | Buffer::Slots(n) => n == 0,
            Buffer::Bytes(n) => n < CREDIT_BYTES,
        }
    }
}

impl Field for Buffer {
    fn expects() -> String {
        "a number of packets, slots or bytes with its unit, such as \"4 packets\", \"4 slots\" or \"64 KiB\", or \
         \"auto\" or \"unlimited\""
            .to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Buffer> {
        let Some(buffer) = node.text().and_then(Buffer::parse) else { return refuse(node, errors) };
        if buffer.is_empty() {
            errors.add(node, "is too small for a packet; must be at least 1 packet, 1 slot or 64 B", "");
            return None;
        }
        Some(buffer)
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Buffer::Auto => json!(AUTO),
            Buffer::Unlimited => json!(UNLIMITED),
            Buffer::Packets(n) => json!(counted(*n, "packet")),
            Buffer::Slots(n) => json!(counted(*n, "slot")),
            Buffer::Bytes(n) => json!(in_words(u64::from(*n))),
        }
    }

    fn json_schema() -> serde_json::Value {
        json!({
            "type": "string",
            "pattern": r"^(auto|unlimited|\s*[0-9.eE+-]+\s*(packets?|slots?|B|[kMGT]B|[KMGT]iB)\s*)$",
        })
    }
}

/// A number with its noun.
fn counted(n: u32, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A number of packets, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub u32);

impl Field for Limit {
    fn expects() -> String {
        format!("a number of packets between 0 and {}, or \"unlimited\"", u32::MAX - 1)
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Limit> {
        match &node.value {
            Value::Integer(packets) if (0..i128::from(u32::MAX)).contains(packets) => Some(Limit(*packets as u32)),
            Value::Text(word) if word == UNLIMITED => Some(Limit(u32::MAX)),
            _ => refuse(node, errors),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        if self.0 == u32::MAX { json!(UNLIMITED) } else { json!(self.0) }
    }

    fn json_schema() -> serde_json::Value {
        json!({"oneOf": [{"type": "integer", "minimum": 0, "maximum": u32::MAX - 1}, {"const": UNLIMITED}]})
    }
}

/// The response time of a sender to a pause: a time, or quanta of 512 bit times on its link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PauseTime(pub PauseResponse);

const QUANTA: [(&str, f64); 2] = [("quantum", 1.0), ("quanta", 1.0)];
/// The longest time, and the largest number of quanta that a pause frame can hold.
const LONGEST_PAUSE: Time = Time::from_ms(1000);
const MOST_QUANTA: f64 = 65_535.0;

impl Field for PauseTime {
    fn expects() -> String {
        "a time with its unit, such as \"500 ns\", or quanta of 512 bit times, such as \"60 quanta\"".to_string()
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<PauseTime> {
        let Some(quanta) = node.text().and_then(|text| quantity(text, &QUANTA)) else {
            if node.text().and_then(seconds).is_none() {
                return refuse(node, errors);
            }
            let time = Time::read(node, errors)?;
            if time > LONGEST_PAUSE {
                errors.add(node, format!("must be at most {LONGEST_PAUSE}"), "");
                return None;
            }
            return Some(PauseTime(PauseResponse::Time(time)));
        };
        if !(0.0..=MOST_QUANTA).contains(&quanta) || quanta.fract() != 0.0 {
            errors.add(node, format!("must be a whole number of quanta, at most {MOST_QUANTA}"), "");
            return None;
        }
        Some(PauseTime(PauseResponse::Quanta(quanta as u32)))
    }

    fn to_json(&self) -> serde_json::Value {
        match self.0 {
            PauseResponse::Time(time) => time.to_json(),
            PauseResponse::Quanta(quanta) => json!(format!("{quanta} quanta")),
        }
    }

    fn json_schema() -> serde_json::Value {
        json!({"type": "string", "pattern": r"^\s*[0-9.eE+-]+\s*(s|ms|us|ns|ps|quantum|quanta)\s*$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Field>(text: &str) -> Result<T, String> {
        becalm_schema::read_json(&json!(text), "f").map_err(|errors| errors.to_string())
    }

    #[test]
    fn rates_keep_their_words() {
        let rate: LinkRate = read(" 100 Gb/s").unwrap();
        assert_eq!((rate.rate().bits_per_second(), rate.to_json()), (100e9, json!("100 Gb/s")));
        assert_eq!(read::<LinkRate>("1 GB/s").unwrap(), LinkRate::gigabytes(1.0));
        for wrong in ["100", "-1 GB/s", "0 b/s", "1 GB", "nan Gb/s", "1e9 Tb/s"] {
            assert!(read::<LinkRate>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pauses_are_times_or_quanta() {
        assert_eq!(read("60 quanta"), Ok(PauseTime(PauseResponse::Quanta(60))));
        assert_eq!(read("500 ns"), Ok(PauseTime(PauseResponse::Time(Time::from_ns(500)))));
        for wrong in ["60", "1.5 quanta", "-1 quanta", "65536 quanta", "2 s", "60 packets"] {
            assert!(read::<PauseTime>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_are_whole() {
        assert_eq!(read("2048 B"), Ok(Bytes(2048)));
        assert_eq!(read("1.5 KiB"), Ok(Bytes(1536)));
        assert_eq!(read("2 kB"), Ok(Bytes(2000)));
        for wrong in ["1.5 B", "-1 B", "5 GiB", "2048", "2 packets"] {
            assert!(read::<Bytes>(wrong).is_err(), "{wrong}");
        }
        for n in [0, 20, 2048, 65536, 1 << 20, 3_000_001] {
            assert_eq!(read(&in_words(n.into())), Ok(Bytes(n)));
        }
    }

    #[test]
    fn payloads_may_be_longer_than_packets() {
        assert_eq!(read("5.6 GB"), Ok(Payload(5_600_000_000)));
        assert_eq!(read("1 TiB"), Ok(Payload(LARGEST_MESSAGE)));
        assert!(read::<Payload>("1099511627777 B").unwrap_err().contains("must be at most 1 TiB"));
        for n in [0, 4 << 30, (4 << 30) + 1, LARGEST_MESSAGE - 1, LARGEST_MESSAGE] {
            assert_eq!(read(&in_words(n)), Ok(Payload(n)));
        }
    }

    #[test]
    fn buffers_count_packets_slots_or_bytes() {
        for (text, buffer) in [
            ("auto", Buffer::Auto),
            ("unlimited", Buffer::Unlimited),
            ("1 packet", Buffer::Packets(1)),
            ("4 packets", Buffer::Packets(4)),
            ("1 slot", Buffer::Slots(1)),
            ("4 slots", Buffer::Slots(4)),
            ("64 KiB", Buffer::Bytes(65536)),
        ] {
            assert_eq!((read(text), buffer.to_json()), (Ok(buffer), json!(text)));
        }
        for wrong in ["0 packets", "0 slots", "10 B", "1.5 packets", "-4 packets", "4", "automatic"] {
            assert!(read::<Buffer>(wrong).is_err(), "{wrong}");
        }
    }
}
