//! Lines and columns of offsets.

/// The lines of a text: for an offset, in which line it is and in which column.
///
/// ```
/// use monoscan::lexer::Lines;
///
/// let lines = Lines::new(b"ab\ncd");
/// assert_eq!(lines.place(4), (2, 2));
///
/// // Of a text that comes in chunks.
/// let mut lines = Lines::default();
/// [&b"ab"[..], b"\ncd"].into_iter().for_each(|chunk| lines.extend(chunk));
/// assert_eq!(lines.place(4), (2, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Where each line but the first begins.
    starts: Vec<usize>,
    /// Bytes of the text.
    len: usize,
}

impl Lines {
    /// Finds the line feeds of a text, in one pass.
    pub fn new(text: &[u8]) -> Lines {
        let mut lines = Lines::default();
        lines.extend(text);
        lines
    }

    /// Finds those of the next chunk of a text too.
    pub fn extend(&mut self, chunk: &[u8]) {
        let behind = (self.len + 1..).zip(chunk);
        self.starts.extend(behind.filter(|&(_, &byte)| byte == b'\n').map(|(behind, _)| behind));
        self.len += chunk.len();
    }

    /// Line and column of an offset, both counted from 1, columns in bytes. A line feed is the last byte of its line.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).map_or(0, |before| self.starts[before]);
        (line + 1, offset - start + 1)
    }
}
