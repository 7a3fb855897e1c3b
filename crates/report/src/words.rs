//! Numbers as text, as `becalm.analysis.formats` writes them.

/// Threshold above which a value rounds to 1000, and is shown as 1 of the next unit.
const JUST_BELOW: f64 = 0.9995;
const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
const TIMES: [(f64, &str); 3] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")];

/// A number with three digits and a decimal prefix: `1.23 GB/s`.
pub(crate) fn number(value: f64, unit: &str) -> String {
    let (size, prefix) = of(value, &PREFIXES).unwrap_or((1.0, ""));
    format!("{} {prefix}{unit}", three(value / size)).trim_end().to_string()
}

/// A time in s with three digits in a suitable unit.
pub(crate) fn seconds(value: f64) -> String {
    let (size, unit) = of(value, &TIMES).unwrap_or((1e-9, "ns"));
    format!("{} {unit}", three(value / size))
}

/// A share as a percentage.
pub(crate) fn share(value: f64) -> String {
    format!("{:.1}%", 100.0 * value.min(1.0))
}

/// A count with its noun.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Names in a sentence: `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn of(value: f64, units: &'static [(f64, &'static str)]) -> Option<(f64, &'static str)> {
    units.iter().copied().find(|(size, _)| value.abs() >= JUST_BELOW * size)
}

/// Three significant digits, and all digits before the decimal point.
fn three(value: f64) -> String {
    let digits = match value.abs() {
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_the_next_unit_where_they_round_up() {
        let rates = [0.0, 999.4, 999.6, 1.234e9, 2.9e13].map(|rate| number(rate, "B/s"));
        assert_eq!(rates, ["0.00 B/s", "999 B/s", "1.00 kB/s", "1.23 GB/s", "29.0 TB/s"]);
        assert_eq!([2e-9, 9.9996e-4, 3.4].map(seconds), ["2.00 ns", "1.00 ms", "3.40 s"]);
        assert_eq!((share(1.002), share(0.1235)), ("100.0%".to_string(), "12.3%".to_string()));
    }

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        assert_eq!([listed(&["a"]), listed(&["a", "b"]), listed(&["a", "b", "c"])], ["a", "a and b", "a, b and c"]);
        assert_eq!([counted(1, "host"), counted(2, "host")], ["1 host", "2 hosts"]);
    }
}
