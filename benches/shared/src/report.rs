//! Sizes as text, and files.

use std::path::Path;

/// 4096 as 2^12; other numbers as they are.
pub fn power(elements: u64) -> String {
    match elements.is_power_of_two() {
        true => format!("2^{}", elements.ilog2()),
        false => elements.to_string(),
    }
}

/// The bytes of a file.
///
/// # Errors
/// The file's name, and why it cannot be read.
pub fn read(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Makes a file of a text.
///
/// # Errors
/// The file's name, and why it cannot be written.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}
