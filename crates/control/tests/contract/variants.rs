//! Parameter values with which schemes are tested.

use becalm_control::SchemeDoc;
use becalm_schema::{Field, FieldDoc, read_json};
use serde_json::{Value, json};

/// Test values of a parameter: its default, bounds, words and examples.
fn candidates(field: &FieldDoc) -> Vec<Value> {
    let schema = &field.schema;
    let bounds = ["minimum", "maximum"].map(|bound| schema[bound].clone());
    let words = schema["oneOf"].as_array().into_iter().flatten().map(|option| option["const"].clone());
    let truths = match schema["type"] == "boolean" {
        true => vec![json!(false), json!(true)],
        false => Vec::new(),
    };
    let examples = schema["examples"].as_array().into_iter().flatten().cloned();
    let all = field.default.clone().into_iter().chain(bounds).chain(words).chain(truths).chain(examples);
    all.filter(|value| !value.is_null()).collect()
}

/// Table of a scheme with only its required parameters.
pub fn plain(doc: &SchemeDoc) -> serde_json::Map<String, Value> {
    let required = doc.parameters.iter().filter(|field| field.required);
    required.map(|field| (field.name.to_string(), candidates(field)[0].clone())).collect()
}

/// Table of a scheme with each parameter's last test value, for parameters that only have an effect together.
fn all_set(doc: &SchemeDoc) -> serde_json::Map<String, Value> {
    let last = |field: &FieldDoc| Some((field.name.to_string(), candidates(field).pop()?));
    doc.parameters.iter().filter_map(last).collect()
}

/// Valid variants of all schemes of a seam: plain, with each parameter set to each test value, and with all parameters
/// set.
pub fn variants<P: Field>(docs: &[SchemeDoc]) -> Vec<P> {
    let mut all = Vec::new();
    for doc in docs {
        let plain = plain(doc);
        let table = json!({doc.name: plain});
        all.push(read_json::<P>(&table, doc.name).unwrap_or_else(|wrong| panic!("{wrong}")));
        for field in &doc.parameters {
            for value in candidates(field) {
                let mut table = plain.clone();
                table.insert(field.name.to_string(), value);
                all.extend(read_json::<P>(&json!({doc.name: table}), doc.name));
            }
        }
        all.extend(read_json::<P>(&json!({doc.name: all_set(doc)}), doc.name));
    }
    all
}
