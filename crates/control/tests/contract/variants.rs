//! Parameters to try every scheme of a list with.

use becalm_control::SchemeDoc;
use becalm_schema::{Field, FieldDoc, read_json};
use serde_json::{Value, json};

/// Values to try for a parameter: its default, its bounds, its words, its examples.
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

/// The table of a scheme with nothing but what is required.
pub fn plain(doc: &SchemeDoc) -> serde_json::Map<String, Value> {
    let required = doc.parameters.iter().filter(|field| field.required);
    required.map(|field| (field.name.to_string(), candidates(field)[0].clone())).collect()
}

/// The table of a scheme with the last value to try of every parameter, for what does something only together.
fn all_set(doc: &SchemeDoc) -> serde_json::Map<String, Value> {
    let last = |field: &FieldDoc| Some((field.name.to_string(), candidates(field).pop()?));
    doc.parameters.iter().filter_map(last).collect()
}

/// Every scheme of a seam: plain, with each parameter set to each value to try, and with all of them set, as far as
/// that is valid.
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
