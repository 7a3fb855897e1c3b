//! The version of the model: a hash of its sources, and the compiler.
//!
//! A hash of the compiled module would be wrong: the module holds paths of the machine that built it, and it changes
//! with every message of this crate, which changes no result.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process::Command};

use sha2::{Digest, Sha256};

/// The crates that determine a run.
const CRATES: [&str; 8] = ["engine", "schema", "workload", "fabric", "control", "metrics", "model", "scenario"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let crates = here.parent().unwrap_or(&here);
    let root = crates.parent().unwrap_or(crates);
    let mut files = vec![root.join("Cargo.lock")];
    for name in CRATES {
        let sources = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        list(&sources, &mut files)?;
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    println!("cargo::rustc-env=BECALM_MODEL={}", hash(root, files)?);
    println!("cargo::rustc-env=BECALM_COMPILER={}", compiler());
    Ok(())
}

/// Adds all files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// SHA-256 over names and contents, independent of the folder of the checkout and of line ends.
fn hash(root: &Path, files: Vec<PathBuf>) -> io::Result<String> {
    let name = |path: &Path| {
        let parts = path.strip_prefix(root).unwrap_or(path).components();
        parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
    };
    let mut named: Vec<(String, PathBuf)> = files.into_iter().map(|path| (name(&path), path)).collect();
    named.sort();
    let mut sum = Sha256::new();
    for (name, path) in named {
        let text = fs::read(path)?;
        let lines: Vec<u8> = text.into_iter().filter(|&byte| byte != b'\r').collect();
        // Lengths come first, so that text moved from one file to the next changes the hash.
        sum.update(format!("{name}\n{}\n", lines.len()));
        sum.update(lines);
    }
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The compiler's version.
fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("-V").output();
    said.map_or_else(|_| "unknown".into(), |said| String::from_utf8_lossy(&said.stdout).trim().into())
}
