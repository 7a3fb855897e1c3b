//! Suggestions for misspelt names.

/// The name closest to `word`, if a typing error explains the difference.
pub fn did_you_mean<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let count = word.chars().count();
    let near = |name: &&'a str| {
        let length = name.chars().count();
        let (shorter, longer) = (length.min(count), length.max(count));
        // Every additional letter of the longer word is an error.
        if longer - shorter > (longer / 3).max(1) {
            return None;
        }
        let slips = distance(&word, &name.to_lowercase());
        (slips <= (longer / 3).max(1) && slips < shorter).then_some((slips, *name))
    };
    names.iter().filter_map(near).min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// Number of inserted, omitted, replaced or swapped letters between `a` and `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_a_slip_away_and_nothing_else() {
        let names = ["rmin", "rmax", "initial", "discrete"];
        assert_eq!(did_you_mean("rmn", &names), Some("rmin"));
        assert_eq!(did_you_mean("Rmax", &names), Some("rmax"));
        assert_eq!(did_you_mean("inital", &names), Some("initial"));
        assert_eq!(did_you_mean("dsicrete", &names), Some("discrete"));
        assert_eq!(did_you_mean("window", &names), None);
        assert_eq!(did_you_mean("", &names), None);
        assert_eq!(did_you_mean("q", &["m"]), None);
    }
}
