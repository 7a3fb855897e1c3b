//! Files that a scenario names.

use std::path::{Path, PathBuf};

use becalm_schema::Errors;

/// The path of a file that a scenario names. Relative paths start at the scenario's folder.
pub(super) fn path(name: &str, errors: &Errors) -> PathBuf {
    Path::new(&errors.file).parent().unwrap_or_else(|| Path::new("")).join(name)
}

/// Reads a file that a scenario names.
///
/// # Errors
/// The file does not exist, is not a regular file, or is longer than `most` bytes.
pub(super) fn read_bytes(name: &str, most: u64, errors: &Errors) -> Result<Vec<u8>, String> {
    if cfg!(target_family = "wasm") {
        return Err("cannot be read: a web page has no access to files".to_string());
    }
    let path = path(name, errors);
    let about = std::fs::metadata(&path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("is not a file".to_string());
    }
    if about.len() > most {
        return Err(format!("has {} bytes, more than {most}", about.len()));
    }
    std::fs::read(&path).map_err(|error| error.to_string())
}

/// Reads a text file that a scenario names.
///
/// # Errors
/// Those of [`read_bytes`], or the text is not UTF-8.
pub(super) fn read(name: &str, most: u64, errors: &Errors) -> Result<String, String> {
    String::from_utf8(read_bytes(name, most, errors)?).map_err(|error| format!("is not UTF-8 text: {error}"))
}
