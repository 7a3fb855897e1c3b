//! Lists of names with ranges: `["B1..B10", "BC"]`.

use becalm_schema::{Mistakes, Node, did_you_mean};

/// Names in a list that names many.
const SHOWN: usize = 12;
/// Names that one range may stand for.
const LONGEST: u64 = 1 << 20;

/// The names that a text stands for: itself, or those of a range `prefix<first>..prefix<last>`.
///
/// # Errors
/// What is wrong with the range.
pub(crate) fn expand(text: &str) -> Result<Vec<String>, String> {
    let Some((first, last)) = text.split_once("..") else {
        return if text.is_empty() { Err("must not be empty".to_string()) } else { Ok(vec![text.to_string()]) };
    };
    let (Some((prefix, low)), Some((other, high))) = (numbered(first), numbered(last)) else {
        return Err("must be a name or a range of numbered names, such as \"B1..B10\"".to_string());
    };
    if prefix != other {
        return Err(format!("must be a range of names that begin alike, not with `{prefix}` and `{other}`"));
    }
    if low > high || high - low >= LONGEST {
        return Err(format!("must be a range that goes up, by at most {LONGEST} names"));
    }
    Ok((low..=high).map(|n| format!("{prefix}{n}")).collect())
}

/// A name as its letters and the number at its end.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[letters.len()..].parse().ok()?;
    Some((letters, number))
}

/// The names of a list of strings, ranges expanded, each with the node it comes from. Mistakes are noted.
pub(crate) fn expand_list<'a>(list: &'a Node, mistakes: &mut Mistakes) -> Vec<(String, &'a Node)> {
    let mut names = Vec::new();
    for item in list.items().unwrap_or_default() {
        let Some(text) = item.text() else { continue };
        match expand(text) {
            Ok(expanded) => names.extend(expanded.into_iter().map(|name| (name, item))),
            Err(problem) => mistakes.add(item, problem, ""),
        }
    }
    names
}

/// Notes that a name is unknown, with the nearest of the known names or, if they are few, all.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str], node: &Node, mistakes: &mut Mistakes) {
    let hint = did_you_mean(name, known).map_or(String::new(), |near| format!(", did you mean `{near}`?"));
    let mut valid = known[..known.len().min(SHOWN)].join(", ");
    if known.len() > SHOWN {
        valid.push_str(&format!(", ... ({} in all)", known.len()));
    }
    mistakes.add(node, format!("there is no {what} `{name}`{hint}"), valid);
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
}
