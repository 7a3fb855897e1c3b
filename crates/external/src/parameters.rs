//! Parameters that an external scheme declares, and their values in a scenario.

use becalm_engine::Time;
use becalm_schema::did_you_mean;
use becalm_schema::{Conflict, Field, read_json};
use serde_json::{Value as Json, json};

use crate::abi;

/// The kind of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A floating-point number.
    Number,
    /// An integer.
    Integer,
    /// True or false.
    Truth,
    /// A time, in picoseconds.
    Time,
    /// One of these words. Its value is the word's index.
    Word(Vec<String>),
}

/// A value of a parameter. Truth values, times and words are integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The value of a [`Kind::Number`].
    Number(f64),
    /// The value of any other kind.
    Integer(i64),
}

impl Value {
    /// The value for the C interface.
    pub fn raw(self) -> abi::Value {
        match self {
            Value::Number(number) => abi::Value { number },
            Value::Integer(integer) => abi::Value { integer },
        }
    }
}

/// The declaration of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The key.
    pub name: String,
    /// The unit; empty for none.
    pub unit: String,
    /// Help text.
    pub doc: String,
    /// The kind of its values.
    pub kind: Kind,
    /// The value of an absent key.
    pub fallback: Value,
    /// The least value.
    pub least: Value,
    /// The greatest value.
    pub most: Value,
}

impl Parameter {
    /// Reads its value in a scenario.
    ///
    /// # Errors
    /// The requirement on the value.
    pub fn read(&self, given: &Json) -> Result<Value, String> {
        let value = self.value(given).ok_or_else(|| format!("must be {}", self.expects()))?;
        if self.holds(value) { Ok(value) } else { Err(format!("must be {}", self.range())) }
    }

    fn value(&self, given: &Json) -> Option<Value> {
        match &self.kind {
            Kind::Number => given.as_f64().filter(|number| number.is_finite()).map(Value::Number),
            Kind::Integer => given.as_i64().map(Value::Integer),
            Kind::Truth => given.as_bool().map(|truth| Value::Integer(i64::from(truth))),
            Kind::Time => read_json::<Time>(given, "").ok().map(|time| Value::Integer(time.0 as i64)),
            Kind::Word(words) => {
                let place = words.iter().position(|word| Some(word.as_str()) == given.as_str())?;
                Some(Value::Integer(place as i64))
            }
        }
    }

    /// Whether a value is in the range.
    pub fn holds(&self, value: Value) -> bool {
        match (value, self.least, self.most) {
            (Value::Number(value), Value::Number(least), Value::Number(most)) => (least..=most).contains(&value),
            (Value::Integer(value), Value::Integer(least), Value::Integer(most)) => {
                matches!(self.kind, Kind::Truth | Kind::Word(_)) || (least..=most).contains(&value)
            }
            _ => false,
        }
    }

    /// Description of a valid value.
    fn expects(&self) -> String {
        match &self.kind {
            Kind::Number => f64::expects(),
            Kind::Integer => "an integer".to_string(),
            Kind::Truth => bool::expects(),
            Kind::Time => Time::expects(),
            Kind::Word(words) => format!("one of {}", words.join(", ")),
        }
    }

    /// The range in words.
    pub fn range(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) };
        let shown = |value| self.show(value).as_str().map_or_else(|| self.show(value).to_string(), str::to_string);
        match (self.least, self.most) {
            (Value::Number(least), Value::Number(most)) if least == f64::MIN && most == f64::MAX => String::new(),
            (Value::Number(least), Value::Number(most)) if most == f64::MAX => format!("at least {least}{unit}"),
            (Value::Number(least), Value::Number(most)) if least == f64::MIN => format!("at most {most}{unit}"),
            (Value::Integer(i64::MIN), Value::Integer(i64::MAX)) => String::new(),
            (least, Value::Integer(i64::MAX)) => format!("at least {}{unit}", shown(least)),
            (Value::Integer(i64::MIN), most) => format!("at most {}{unit}", shown(most)),
            (least, most) => format!("between {} and {}{unit}", shown(least), shown(most)),
        }
    }

    /// A value as written in a scenario.
    pub fn show(&self, value: Value) -> Json {
        match (&self.kind, value) {
            (_, Value::Number(number)) => json!(number),
            (Kind::Truth, Value::Integer(truth)) => json!(truth != 0),
            (Kind::Time, Value::Integer(time)) => json!(Time(time.max(0) as u64).to_string()),
            (Kind::Word(words), Value::Integer(place)) => {
                words.get(place as usize).map_or(Json::Null, |word| json!(word))
            }
            (_, Value::Integer(integer)) => json!(integer),
        }
    }

    /// The declaration as JSON, for lists and pages.
    pub fn to_json(&self) -> Json {
        let range = match self.kind {
            Kind::Truth | Kind::Word(_) => String::new(),
            _ => self.range(),
        };
        json!({
            "name": self.name,
            "kind": self.expects(),
            "unit": self.unit,
            "default": self.show(self.fallback),
            "required": false,
            "range": range,
            "help": self.doc,
        })
    }
}

/// The values of all parameters: the given values, and the defaults of the others.
///
/// # Errors
/// A conflict for each unknown key and each wrong value, reported at its key.
pub fn settle(declared: &[Parameter], given: &[(String, Json)]) -> Result<Vec<Value>, Vec<Conflict>> {
    let names: Vec<&str> = declared.iter().map(|parameter| parameter.name.as_str()).collect();
    let mut wrong: Vec<Conflict> = Vec::new();
    for (key, _) in given.iter().filter(|(key, _)| !names.contains(&key.as_str())) {
        let hint = did_you_mean(key, &names).map_or(String::new(), |near| format!(", did you mean `{near}`?"));
        let valid = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        wrong.push(Conflict { valid, ..Conflict::new(key.clone(), format!("unknown key{hint}")) });
    }
    let mut values = Vec::with_capacity(declared.len());
    for parameter in declared {
        let own = given.iter().find(|(key, _)| *key == parameter.name);
        match own.map_or(Ok(parameter.fallback), |(_, json)| parameter.read(json)) {
            Ok(value) => values.push(value),
            Err(problem) => wrong.push(Conflict::new(parameter.name.clone(), problem)),
        }
    }
    if wrong.is_empty() { Ok(values) } else { Err(wrong) }
}
