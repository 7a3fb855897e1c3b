//! A choice of bare words.

/// Declares an enum whose values are words in a document: `method = "scan"`.
///
/// Generates the enum with `Clone`, `Copy`, `Debug`, `PartialEq`, `Eq`, its [`Field`](crate::Field), and `WORDS`.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:expr])*
        $vis:vis enum $name:ident {
            $($(#[doc = $word_doc:expr])* $variant:ident = $word:literal),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[doc = $word_doc])* $variant),+
        }

        impl $name {
            /// The words, in the order of declaration.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::Field for $name {
            fn expects() -> String {
                $crate::words::expects(Self::WORDS)
            }

            fn read(node: &$crate::Node, errors: &mut $crate::Errors) -> Option<Self> {
                match node.text() {
                    $(Some($word) => Some(Self::$variant),)+
                    _ => $crate::words::refuse(Self::WORDS, node, errors),
                }
            }

            fn to_json(&self) -> $crate::serde_json::Value {
                match self {
                    $(Self::$variant => $word.into()),+
                }
            }

            fn json_schema() -> $crate::serde_json::Value {
                $crate::words::json_schema(vec![$(($word, $crate::join_doc(&[$($word_doc),*]))),+])
            }
        }
    };
}

/// The JSON Schema of words and their descriptions.
#[doc(hidden)]
pub fn json_schema(words: Vec<(&str, String)>) -> serde_json::Value {
    let options: Vec<_> =
        words.into_iter().map(|(word, text)| serde_json::json!({"const": word, "description": text})).collect();
    serde_json::json!({"oneOf": options})
}

/// The list of words with "or" before the last.
#[doc(hidden)]
pub fn expects(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Notes that a node is not one of the words.
#[doc(hidden)]
pub fn refuse<T>(words: &[&str], node: &crate::Node, errors: &mut crate::Errors) -> Option<T> {
    let hint = node.text().and_then(|text| crate::did_you_mean(text, words));
    let hint = hint.map_or(String::new(), |word| format!("; did you mean \"{word}\"?"));
    errors.add(node, format!("must be {}{hint}", expects(words)), "");
    None
}
