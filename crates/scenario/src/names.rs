//! Lists of names with ranges: `["B1..B10", "BC"]`.

use becalm_engine::Key;
use becalm_schema::names::{Known, expand};
use becalm_schema::{Located, Place, Review};

/// The name that means all nodes.
pub(crate) const ALL: &str = "*";

/// Largest number of names in an expanded list, which is the maximum number of nodes.
const MOST_NAMES: usize = Key::TARGETS as usize;

/// The names of a list, with ranges expanded, each with its location. Errors are recorded.
pub(crate) fn expand_list(list: &[Located<String>], review: &mut Review<'_>) -> Vec<(String, Place)> {
    let mut names = Vec::new();
    for item in list {
        let Some(text) = item.get() else { continue };
        match expand(text) {
            Ok(expanded) if names.len() + expanded.len() > MOST_NAMES => {
                review.add(item.place(), format!("makes this list longer than {MOST_NAMES} names"));
                break;
            }
            Ok(expanded) => names.extend(expanded.into_iter().map(|name| (name, item.place()))),
            Err(problem) => review.add(item.place(), problem),
        }
    }
    names
}

/// Reports that a name is unknown. The message suggests the closest known name or, if there are few names, lists all
/// names.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str], place: Place, review: &mut Review<'_>) {
    let conflict = Known(what, known).conflict("", name);
    review.add_valid(place, conflict.problem, conflict.valid);
}
