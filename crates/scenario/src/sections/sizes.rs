//! Distributions of the sizes of messages.

use std::sync::Arc;

use becalm_fabric::Cdf;
use becalm_schema::field::refuse;
use becalm_schema::{Errors, Field, Node, Value};
use serde_json::json;

use crate::sections::distribution::{Distribution, Shape};
use crate::sections::files;
use crate::sections::measured::{NAMED, parse};
use crate::sections::quantities::Payload;

/// Length of the longest file of points, in bytes.
const LONGEST: u64 = 4 << 20;
/// Number of packets of a mean message above which the mean number of packets is approximated, not summed.
const MANY_PACKETS: f64 = 10_000.0;
/// Expected number of events above which the probability of no event is too small for a float.
const MANY_EVENTS: f64 = 700.0;

/// A distribution of sizes: a form of [`Distribution`], the name of a measured distribution, `{cdf = "FILE"}`
/// or `{cdf = [[0, 0], ...]}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes(pub Shape);

impl Sizes {
    /// No variation.
    pub const FIXED: Sizes = Sizes(Shape::Fixed);

    /// Whether sizes vary.
    pub fn varies(&self) -> bool {
        *self != Sizes::FIXED
    }

    /// Whether the distribution is measured and so has its own mean.
    pub fn is_measured(&self) -> bool {
        matches!(self.0, Shape::Measured(_))
    }

    /// The mean size in whole bytes. It is `given` if present, then the mean of a measured distribution, and otherwise
    /// `otherwise`.
    pub fn mean(&self, given: Option<Payload>, otherwise: Payload) -> u64 {
        match (&self.0, given) {
            (_, Some(given)) => given.0,
            (Shape::Measured(cdf), None) => cdf.whole_mean(),
            (_, None) => otherwise.0,
        }
    }

    /// The largest possible size with this mean; [`u64::MAX`] if there is no bound.
    pub fn largest(&self, mean: u64) -> u64 {
        match &self.0 {
            Shape::Fixed => mean,
            Shape::Exponential | Shape::Erlang { .. } => u64::MAX,
            Shape::Uniform { spread } => (mean as f64 * (1.0 + spread)).round() as u64,
            Shape::Measured(cdf) => (cdf.largest() * cdf.scale(mean)).round() as u64,
        }
    }

    /// The probability that the quantity exceeds this multiple of its mean.
    fn exceeds(&self, multiple: f64) -> f64 {
        match &self.0 {
            Shape::Fixed => f64::from(u8::from(multiple < 1.0)),
            Shape::Exponential => libm::exp(-multiple),
            Shape::Erlang { shape } => {
                // The probability of fewer than `shape` events of a Poisson process.
                let events = f64::from(*shape) * multiple;
                if events > MANY_EVENTS {
                    let mut log = -events;
                    let mut sum = libm::exp(log);
                    for i in 1..*shape {
                        log += libm::log(events / f64::from(i));
                        sum += libm::exp(log);
                    }
                    return sum;
                }
                let mut term = libm::exp(-events);
                let mut sum = term;
                for i in 1..*shape {
                    term *= events / f64::from(i);
                    sum += term;
                }
                sum
            }
            Shape::Uniform { spread } => ((1.0 + spread - multiple) / (2.0 * spread)).clamp(0.0, 1.0),
            Shape::Measured(cdf) => cdf.exceeds(multiple * cdf.mean()),
        }
    }

    /// Mean number of packets of messages with this mean size.
    pub fn mean_packets(&self, mean: u64, mtu: u32) -> f64 {
        let (message, full) = (mean as f64, f64::from(mtu));
        match &self.0 {
            Shape::Fixed => (message / full).ceil(),
            Shape::Measured(cdf) => cdf.mean_pieces(full, mean),
            // A message has more than k packets with probability P(size > k mtu). By the Euler-Maclaurin
            // formula, the sum over all k is half a packet more than the mean. The approximation improves
            // with the number of packets.
            Shape::Exponential => 1.0 / (1.0 - libm::exp(-full / message)),
            _ if message > MANY_PACKETS * full => message / full + 0.5,
            _ => (0..).map(|k| self.exceeds(f64::from(k) * full / message)).take_while(|p| *p > 1e-12).sum(),
        }
    }

    /// The measured distribution; `None` if the value is something else, or after an error, which is then
    /// recorded.
    fn measured(node: &Node, errors: &mut Errors) -> Option<Arc<Cdf>> {
        if let Some(name) = node.text() {
            return NAMED.iter().find(|(known, _)| *known == name).map(|(_, cdf)| cdf.clone());
        }
        let [(key, value)] = node.entries()? else { return None };
        let mistakes = match (key.as_str(), &value.value) {
            ("cdf", Value::Text(path)) => match files::read(path, LONGEST, errors) {
                Ok(text) => parse(&text, path),
                Err(problem) => Err(vec![format!("{path}: {problem}")]),
            },
            ("cdf", Value::List(items)) => points(items),
            _ => return None,
        };
        match mistakes {
            Ok(cdf) => Some(Arc::new(cdf)),
            Err(mistakes) => {
                mistakes.into_iter().for_each(|mistake| errors.add(value, mistake, ""));
                None
            }
        }
    }
}

/// Reads a list of points, each a pair of bytes and percentage. The rules are the same as for the lines of a
/// file.
fn points(items: &[Node]) -> Result<Cdf, Vec<String>> {
    let number = |node: &Node| match node.value {
        Value::Integer(integer) => integer.to_string(),
        // All significant digits.
        Value::Float(float) => format!("{float:?}"),
        _ => node.show(),
    };
    let line = |item: &Node| match item.items() {
        Some(pair) => pair.iter().map(number).collect::<Vec<_>>().join(" "),
        None => item.show(),
    };
    let lines: Vec<String> = items.iter().map(line).collect();
    parse(&lines.join("\n"), "point")
}

impl Field for Sizes {
    fn expects() -> String {
        let names: Vec<String> = NAMED.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        format!("{}; or a measured distribution: {} or {{cdf = \"FILE\"}}", Distribution::expects(), names.join(", "))
    }

    fn read(node: &Node, errors: &mut Errors) -> Option<Sizes> {
        let before = errors.list.len();
        if let Some(cdf) = Sizes::measured(node, errors) {
            return Some(Sizes(Shape::Measured(cdf)));
        }
        if errors.list.len() > before {
            return None;
        }
        Distribution::law(node).map(Sizes).or_else(|| refuse(node, errors))
    }

    fn to_json(&self) -> serde_json::Value {
        let Shape::Measured(cdf) = &self.0 else { return Distribution(self.0.clone()).to_json() };
        match NAMED.iter().find(|(_, known)| known == cdf) {
            Some((name, _)) => json!(name),
            None => json!({"cdf": cdf.points()}),
        }
    }

    fn json_schema() -> serde_json::Value {
        let mut schema = Distribution::json_schema();
        let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
        let pair = json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2});
        let cdf = json!({
            "type": "object",
            "properties": {"cdf": {"oneOf": [{"type": "string"}, {"type": "array", "items": pair}]}},
            "required": ["cdf"],
            "additionalProperties": false,
        });
        let options = schema["oneOf"].as_array_mut().expect("a list of options");
        options.extend([json!({"enum": names}), cdf]);
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_engine::Stream;

    fn read(json: serde_json::Value) -> Result<Sizes, String> {
        becalm_schema::read_json(&json, "f").map_err(|errors| errors.to_string())
    }

    #[test]
    fn sizes_are_laws_names_or_points() {
        for json in [json!("fixed"), json!({"erlang": 4}), json!("websearch"), json!("ali_storage")] {
            assert_eq!(read(json.clone()).unwrap().to_json(), json);
        }
        let points = json!({"cdf": [[0, 0], [7.25, 33.3], [9, 100]]});
        let sizes = read(points).unwrap();
        assert_eq!(read(sizes.to_json()), Ok(sizes));
        let errors = read(json!({"cdf": [[0, 0], [1, 2, 3], "x", [5, 101], [9, 100]]})).unwrap_err();
        assert!(errors.contains("point:2: `1 2 3`: must be two numbers"), "{errors}");
        assert!(errors.contains("point:3:") && errors.contains("point:4: `5 101`: the percentage"), "{errors}");
        for wrong in [json!("web"), json!({"cdf": 1}), json!({"cdf": [], "uniform": 1}), json!(3)] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(read(json!({"cdf": "no/such/file.txt"})).unwrap_err().contains("no/such/file.txt"));
    }

    #[test]
    fn means_of_samples_are_those_of_the_distributions() {
        for (name, mean) in [("websearch", 1_711_250.0), ("fb_hadoop", 120_421.0), ("ali_storage", 40_870.0)] {
            let Sizes(shape) = read(json!(name)).unwrap();
            let whole = Sizes(shape.clone()).mean(None, Payload(1));
            let (mut random, n) = (Stream::new(5, 0, 0), 10_000_000);
            let sum: u64 = (0..n).map(|_| shape.size(whole, &mut random)).sum();
            let found = sum as f64 / f64::from(n);
            assert!((found / mean - 1.0).abs() < 0.005, "{name}: {found}");
        }
    }

    #[test]
    fn a_mean_scales_a_measured_distribution() {
        let sizes = read(json!("websearch")).unwrap();
        assert_eq!((sizes.largest(1_711_250), sizes.largest(171_125)), (30_000_000, 3_000_000));
        assert_eq!(sizes.mean(Some(Payload(5)), Payload(1)), 5);
    }

    #[test]
    fn tails_integrate_to_the_mean() {
        let laws =
            [json!("websearch"), json!("fixed"), json!("exponential"), json!({"erlang": 3}), json!({"uniform": 0.4})];
        for (law, steps) in laws.into_iter().map(|law| (law, 400_000)).chain([(json!({"erlang": 1000}), 4_000)]) {
            let law = read(law).unwrap();
            let area: f64 = (0..steps).map(|i| law.exceeds(20.0 * (f64::from(i) + 0.5) / f64::from(steps))).sum();
            let mean = area * 20.0 / f64::from(steps);
            assert!((mean - 1.0).abs() < 1e-3, "{law:?}: {mean}");
        }
    }
}
