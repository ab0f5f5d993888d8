//! Graphs: work of a stream that is captured instead of done, and then launched as often as wanted.

use std::fmt;
use std::ptr;

use cudarc::driver::sys;

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::stream::Stream;

/// Captured work, which can be launched.
pub struct Graph {
    device: Device,
    raw: sys::CUgraph,
    executable: sys::CUgraphExec,
}

// SAFETY: the driver takes calls for a graph from any thread, if from one at a time: there is no `Sync`.
unsafe impl Send for Graph {}

impl Graph {
    /// Captures what `work` gives to the stream. Until it returns, this thread may not wait for the legacy stream, allocate and the
    /// like, except through this crate, or it spoils the capture; what other threads do does not matter.
    ///
    /// # Errors
    /// `work` fails, the stream cannot be captured (the legacy one cannot), or `work` did something that spoils the capture.
    pub fn capture<E: From<CudaError>>(stream: &Stream, work: impl FnOnce() -> Result<(), E>) -> Result<Graph, E> {
        let mut capture = Capture::begin(stream)?;
        let worked = work();
        let ended = capture.end();
        worked?;
        Ok(ended?)
    }

    /// Does the work in this stream.
    ///
    /// # Errors
    /// The stream is of another device, or the driver fails.
    ///
    /// # Safety
    /// Resources of the captured work may be used by it until it is done.
    pub unsafe fn launch(&self, stream: &Stream) -> Result<(), CudaError> {
        stream.expect_device("the graph", &self.device)?;
        let driver = self.device.bind()?;
        // SAFETY: both exist as long as their handles.
        unsafe { call!(driver, cuGraphLaunch(self.executable, stream.raw())) }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph of device {}", self.device.ordinal())
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Ok(driver) = self.device.bind_aside() {
            // SAFETY: this was the only handle; the driver finishes launches under way by itself.
            unsafe {
                if !self.executable.is_null() {
                    _ = call!(driver, cuGraphExecDestroy(self.executable));
                }
                _ = call!(driver, cuGraphDestroy(self.raw));
            }
        }
        self.device.clear_graves();
    }
}

/// A capture under way, which ends even if the captured work panics.
struct Capture<'a> {
    stream: &'a Stream,
    active: bool,
}

impl Capture<'_> {
    fn begin(stream: &Stream) -> Result<Capture<'_>, CudaError> {
        let driver = stream.device().bind()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream exists as long as its handle.
        unsafe { call!(driver, cuStreamBeginCapture_v2(stream.raw(), mode)) }?;
        Ok(Capture { stream, active: true })
    }

    fn end(&mut self) -> Result<Graph, CudaError> {
        self.active = false;
        let device = *self.stream.device();
        let driver = device.bind()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the capture began in this thread; `raw` is a place for the result.
        unsafe { call!(driver, cuStreamEndCapture(self.stream.raw(), &mut raw)) }?;
        let mut graph = Graph { device, raw, executable: ptr::null_mut() };
        // SAFETY: the graph exists; `executable` is a place for the result.
        unsafe { call!(driver, cuGraphInstantiateWithFlags(&mut graph.executable, raw, 0)) }?;
        Ok(graph)
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if self.active {
            _ = self.end();
        }
    }
}
