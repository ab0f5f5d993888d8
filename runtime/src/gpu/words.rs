//! Words among tokens in device memory, by a helper kernel: for lexers alone.

use monoscan_codegen::nvptx::{HelperKernel, WordsArguments};

pub use monoscan_codegen::nvptx::WordsTable;

use super::moves::launch;
use crate::device_memory::DeviceMemory;
use crate::error::Error;

/// Tokens of a text, in columns of device memory.
#[derive(Clone, Copy, Debug)]
pub struct TokensOnDevice<'m> {
    /// The text, and how many bytes it has.
    pub text: (&'m DeviceMemory, usize),
    /// Where tokens begin, a `u32` each.
    pub starts: &'m DeviceMemory,
    /// Where they end.
    pub ends: &'m DeviceMemory,
    /// How many there are.
    pub count: usize,
}

/// Gives the tokens that are words of a table, which was copied to the device, the kinds of these. Nobody waits for it.
///
/// # Errors
/// No kernel could be made, or the driver fails.
///
/// # Panics
/// A column is too short.
///
/// # Safety
/// No token begins behind its end, or ends behind the text.
pub unsafe fn look_up_words(
    (words, table): (&WordsTable, &DeviceMemory),
    tokens: TokensOnDevice<'_>,
    kinds: &mut DeviceMemory,
) -> Result<(), Error> {
    let TokensOnDevice { text: (text, text_bytes), starts, ends, count } = tokens;
    assert!(text.len() >= text_bytes && table.len() >= words.bytes().len(), "so many bytes");
    assert!(starts.len() >= 4 * count && ends.len() >= 4 * count && kinds.len() >= count, "so many tokens");
    let stream = text.stream().clone();
    let arguments = WordsArguments {
        tokens: count as u64,
        text: text.address(),
        text_bytes: text_bytes as u64,
        starts: starts.address(),
        ends: ends.address(),
        kinds: kinds.address(),
        table: table.address(),
        ..words.arguments()
    };
    let kernel = (HelperKernel::Words, count.div_ceil(HelperKernel::Words.tile()));
    // SAFETY: the columns are as long as the kernel takes them to be, and all tokens are in the text, as the caller says.
    unsafe { launch(kernel, bytemuck::bytes_of(&arguments), &stream, &[text, starts, ends, table], &mut [kinds]) }
}
