//! `nmstate-schema DIR`: prints, as Go, what the crate nmstate reads, from its
//! source in DIR.
//!
//! The tables hold each struct and enum that a network state is made of, with
//! what serde's attributes say: keys and their second names, types, which keys
//! must be there, the bounds of numbers, the words of enums, and which structs
//! refuse keys that they do not know. What nmstate reads by code of its own is
//! printed by that code's name; handler/state/by_hand.go says what it means.

mod attributes;
mod go;
mod source;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory] = arguments.as_slice() else {
        eprintln!("usage: nmstate-schema DIR, the source of the crate nmstate");
        return ExitCode::FAILURE;
    };
    match source::read(Path::new(directory)) {
        Ok(source) => {
            print!("{}", go::file(&source, &version(directory)));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("nmstate-schema: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The directory of a crate in cargo's registry ends with its version.
fn version(directory: &str) -> String {
    directory
        .trim_end_matches('/')
        .rsplit_once('-')
        .map_or("unknown", |(_, version)| version)
        .to_string()
}
