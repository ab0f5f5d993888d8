//! Lines and columns of a text that is in the memory of a GPU: the scan of
//! [`text`](crate::algo::text), where its monoid, program, cost and source are.

use super::expect_no_capture;
use crate::algo::{AlgoError, compiled_for, counted, text};
use crate::scan::DeviceVec;

/// The line and the column of each byte, both from 0, columns in bytes. A newline is the last of its line. Reads a byte and writes
/// 8 for each; does not wait for the device.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::lines_and_columns};
///
/// let text = DeviceVec::upload(&Device::cuda(0)?, b"ab\n\nc")?;
/// let (lines, columns) = lines_and_columns(&text)?;
/// assert_eq!((lines.to_vec()?, columns.to_vec()?), (vec![0, 0, 0, 1, 2], vec![0, 1, 2, 0, 0]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn lines_and_columns(text: &DeviceVec<u8>) -> Result<(DeviceVec<u32>, DeviceVec<u32>), AlgoError> {
    expect_no_capture([text.memory()])?;
    counted(text.len())?;
    Ok(compiled_for(text.device(), |device| text::scan()?.on(device))?.inclusive(text)?)
}
