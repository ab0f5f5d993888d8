//! Lines and columns of offsets.

/// The lines of a text: for an offset, in which line it is and in which column.
///
/// ```
/// use monoscan::lexer::Lines;
///
/// let lines = Lines::new(b"ab\ncd");
/// assert_eq!(lines.place(4), (2, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Where each line but the first begins.
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the line feeds of a text, in one pass.
    pub fn new(text: &[u8]) -> Lines {
        let starts = (1..).zip(text).filter(|&(_, &byte)| byte == b'\n').map(|(behind, _)| behind).collect();
        Lines { starts }
    }

    /// Line and column of an offset, both counted from 1, columns in bytes. A line feed is the last byte of its line.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).map_or(0, |before| self.starts[before]);
        (line + 1, offset - start + 1)
    }
}
