//! Files that a scenario names.

use std::path::Path;

use becalm_schema::Errors;

/// Reads a file that a scenario names; a relative path begins at the scenario's own folder.
///
/// # Errors
/// The path and why it cannot be read: it is not there, not a file, not text in UTF-8, or longer than `most` bytes.
pub(super) fn read(path: &str, most: u64, errors: &Errors) -> Result<String, String> {
    let folder = Path::new(&errors.file).parent().unwrap_or_else(|| Path::new(""));
    let full = folder.join(path);
    let about = std::fs::metadata(&full).map_err(|error| format!("{}: {error}", full.display()))?;
    if !about.is_file() {
        return Err(format!("{}: is not a file", full.display()));
    }
    if about.len() > most {
        return Err(format!("{}: has {} bytes, more than {most}", full.display(), about.len()));
    }
    std::fs::read_to_string(&full).map_err(|error| format!("{}: {error}", full.display()))
}
