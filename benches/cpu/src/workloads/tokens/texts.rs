//! Texts of any length: generated, or files repeated, blanks behind the last whole token.

use std::path::{Path, PathBuf};

use logos::Logos;

use super::rivals::{CToken, JsonToken, RustToken};
use bench_shared::data;

/// Generated JSON, or the file that was named.
pub(crate) fn json(file: Option<&[u8]>, len: usize) -> Vec<u8> {
    match file {
        Some(file) => repeated::<JsonToken>(file, len),
        None => data::json(len),
    }
}

/// The same text without the blanks between its tokens.
pub(super) fn minified(file: Option<&[u8]>, len: usize) -> Vec<u8> {
    let text = json(file, file.map_or(len, |file| file.len()));
    let mut dense = Vec::with_capacity(text.len());
    let mut tokens = JsonToken::lexer(&text[..]);
    while tokens.next().is_some() {
        dense.extend_from_slice(tokens.slice());
    }
    repeated::<JsonToken>(&dense, len)
}

/// The headers of this machine's C library, those in which logos finds no errors; a few lines if there are none.
pub(super) fn c(len: usize) -> Vec<u8> {
    let mut text = files(Path::new("/usr/include"), "h", is_lexed::<CToken>);
    if text.is_empty() {
        text = b"static int f(const char *s) { return *s != '\\0' ? 1 : 0x2f; } /* f */\n".to_vec();
    }
    repeated::<CToken>(&text, len)
}

/// monoscan's own sources.
pub(super) fn rust(len: usize) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text: Vec<u8> = ["src", "ir/src", "codegen/src", "runtime/src"]
        .map(|folder| files(&root.join(folder), "rs", is_lexed::<RustToken>))
        .concat();
    repeated::<RustToken>(&text, len)
}

/// All files of a folder with an extension that are accepted, in the order of their paths; at most 32 MB.
fn files(folder: &Path, extension: &str, accept: fn(&[u8]) -> bool) -> Vec<u8> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut text = Vec::new();
    for path in paths {
        if text.len() > 32 << 20 {
            break;
        }
        if path.is_dir() && !path.is_symlink() {
            text.extend(files(&path, extension, accept));
        } else if path.extension().is_some_and(|found| found == extension) {
            text.extend(std::fs::read(&path).ok().filter(|text| accept(text)).unwrap_or_default());
        }
    }
    text
}

fn is_lexed<T>(text: &[u8]) -> bool
where
    T: for<'a> Logos<'a, Source = [u8], Extras = ()>,
{
    T::lexer(text).all(|token| token.is_ok())
}

/// A text of this length: cut or repeated, blanks behind its last whole token. The tokens are those
/// of a longer text, since a comment that is cut is a division to logos.
fn repeated<T>(file: &[u8], len: usize) -> Vec<u8>
where
    T: for<'a> Logos<'a, Source = [u8], Extras = ()>,
{
    let mut text: Vec<u8> = file.iter().copied().cycle().take(len + file.len()).collect();
    let mut end = 0;
    let mut tokens = T::lexer(&text[..]);
    while tokens.next().is_some() && tokens.span().end <= len {
        end = tokens.span().end;
    }
    text.truncate(len);
    text[end..].fill(b' ');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_is_cut_is_left_out() {
        let file = b"int a; /* a comment */ int b;\n";
        assert_eq!(repeated::<CToken>(file, 12), b"int a;      ");
        assert_eq!(repeated::<CToken>(file, 26), b"int a; /* a comment */ int");
        assert_eq!(repeated::<CToken>(file, 31), b"int a; /* a comment */ int b;  ");
    }
}
