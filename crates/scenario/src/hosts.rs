//! Lists of names with ranges: `["B1..B10", "BC"]`.

use becalm_schema::names::expand;
use becalm_schema::{Mistakes, Node, did_you_mean};

/// Names in a list that names many.
const SHOWN: usize = 12;
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
