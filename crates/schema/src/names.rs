//! Names and ranges of numbered names: `"BC"`, `"B1..B10"`.

use crate::conflict::Conflict;
use crate::suggest::did_you_mean;

/// Largest number of names listed in a message.
const SHOWN: usize = 12;

/// The kind of names, such as `host`, and all valid names.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a>(pub &'a str, pub &'a [&'a str]);

impl Known<'_> {
    /// The conflict of an unknown name at a key. It suggests the closest name, and lists the valid names.
    pub fn conflict(self, key: impl Into<std::borrow::Cow<'static, str>>, name: &str) -> Conflict {
        let Known(what, names) = self;
        let hint = did_you_mean(name, names).map_or(String::new(), |near| format!(", did you mean `{near}`?"));
        let mut valid = names[..names.len().min(SHOWN)].join(", ");
        if names.len() > SHOWN {
            valid.push_str(&format!(", ... ({} in all)", names.len()));
        }
        Conflict { valid, ..Conflict::new(key, format!("there is no {what} `{name}`{hint}")) }
    }
}

/// Largest number of names in one range.
const LONGEST: u64 = 1 << 20;

/// A range `prefix<low>..prefix<high>`.
struct Range<'a> {
    prefix: &'a str,
    low: u64,
    high: u64,
}

impl Range<'_> {
    fn parse(text: &str) -> Result<Option<Range<'_>>, String> {
        let Some((first, last)) = text.split_once("..") else { return Ok(None) };
        let (Some((prefix, low)), Some((other, high))) = (numbered(first), numbered(last)) else {
            return Err("must be a name or a range of numbered names, such as \"B1..B10\"".to_string());
        };
        if prefix != other {
            return Err(format!("must be a range of names with one prefix, not `{prefix}` and `{other}`"));
        }
        if low > high || high - low >= LONGEST {
            return Err(format!("must be an ascending range of at most {LONGEST} names"));
        }
        Ok(Some(Range { prefix, low, high }))
    }
}

/// The names that a text represents: itself, or the names of a range `prefix<first>..prefix<last>`.
///
/// # Errors
/// The problem of the range.
pub fn expand(text: &str) -> Result<Vec<String>, String> {
    match Range::parse(text)? {
        Some(Range { prefix, low, high }) => Ok((low..=high).map(|n| format!("{prefix}{n}")).collect()),
        None if text.is_empty() => Err("must not be empty".to_string()),
        None => Ok(vec![text.to_string()]),
    }
}

/// Whether a text represents a name. An invalid range represents none.
pub fn covers(text: &str, name: &str) -> bool {
    match Range::parse(text) {
        Ok(Some(Range { prefix, low, high })) => numbered(name)
            .is_some_and(|(own, n)| own == prefix && (low..=high).contains(&n) && name == format!("{prefix}{n}")),
        Ok(None) => text == name,
        Err(_) => false,
    }
}

/// Splits a name into its prefix and the number at its end.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[letters.len()..].parse().ok()?;
    Some((letters, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stand_for_their_names() {
        assert_eq!(expand("BC").unwrap(), ["BC"]);
        assert_eq!(expand("B9..B11").unwrap(), ["B9", "B10", "B11"]);
        assert_eq!(expand("h-1-0..h-1-1").unwrap(), ["h-1-0", "h-1-1"]);
        for wrong in ["", "B..C", "A1..B2", "B3..B1", "B1..", "B0..B9999999999"] {
            assert!(expand(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_is_covered_if_it_is_among_them() {
        for text in ["BC", "B9..B11", "L2S0..L2S3"] {
            assert!(expand(text).unwrap().iter().all(|name| covers(text, name)), "{text}");
        }
        for (text, name) in [("B9..B11", "B12"), ("B9..B11", "B09"), ("B9..B11", "C9"), ("BC", "B"), ("B..C", "B")] {
            assert!(!covers(text, name), "{text}, {name}");
        }
    }
}
