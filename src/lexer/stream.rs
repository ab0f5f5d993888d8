//! A text that comes in chunks.

use monoscan_runtime::Error as ScanError;
use monoscan_runtime::lexer::{StreamToken, TokenStream};

use super::gather::Kind;
use super::list::kind_of;

/// The tokens of a text that comes in chunks, cut anywhere: the same as in one piece. On the CPU, by the caller's thread.
///
/// ```
/// use monoscan::lexer::{Lexer, Rules};
///
/// let mut stream = Lexer::new(Rules::parse("WORD [a-z]+\nskip SPACE [ ]+")?)?.stream()?;
/// assert!(stream.push(b"ab")?.is_empty(), "the word may go on");
/// let tokens = stream.push(b"cd e")?;
/// assert_eq!((tokens[0].start, tokens[0].end), (0, 4));
/// assert_eq!(stream.finish()?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LexerStream(pub(super) TokenStream);

/// A token of a stream; places count from the beginning of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Streamed<K = Kind> {
    /// Where it begins, in bytes.
    pub start: u64,
    /// Where it ends: the offset behind its last byte.
    pub end: u64,
    /// Its kind.
    pub kind: K,
}

impl LexerStream {
    /// Takes the next chunk, and gives the tokens that no later byte changes, from left to right.
    ///
    /// # Errors
    /// [`ScanError::TextTooLong`] if a chunk and a token that is not complete have 4 GB or more; [`ScanError::OutOfMemory`].
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<Streamed>, ScanError> {
        Ok(streamed(self.0.push(chunk)?))
    }

    /// Ends the text, and gives its last tokens.
    ///
    /// # Errors
    /// [`ScanError::OutOfMemory`].
    pub fn finish(self) -> Result<Vec<Streamed>, ScanError> {
        Ok(streamed(self.0.finish()?))
    }
}

fn streamed(tokens: Vec<StreamToken>) -> Vec<Streamed> {
    let of = |StreamToken { kind, start, end }| Streamed { start, end, kind: kind_of(kind) };
    tokens.into_iter().map(of).collect()
}
