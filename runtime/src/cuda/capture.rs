//! Owners of the memory and code that a captured graph uses. They live as long as the graph: the
//! driver is given a reference, and says when it is done with it.

use std::any::Any;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys;

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::refused::ArgumentError;
use super::stream::Stream;

/// Whatever a graph uses: memory, kernels.
type Kept = Arc<dyn Any + Send + Sync>;

/// The resources of graphs that are gone. The driver tells of that in a thread in which it must not be called, so the rest is done
/// by the next call that can.
#[derive(Default)]
pub(crate) struct Graves(Mutex<Vec<Kept>>);

impl Graves {
    pub(crate) fn clear(&self) {
        // The lock is given back first, since what is dropped calls the driver.
        let dead = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(dead);
    }

    pub(super) fn push(&self, kept: Kept) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
    }
}

/// One reference that a graph holds.
struct Reference {
    device: Device,
    kept: Kept,
}

/// Keeps something as long as the graph that the stream is being captured into, and whatever is instantiated of it. Returns
/// whether the stream is being captured; if it is not, nothing is kept.
///
/// # Errors
/// The driver fails, and nothing is kept.
pub fn keep_with_graph(stream: &Stream, kept: Arc<dyn Any + Send + Sync>) -> Result<bool, CudaError> {
    let device = stream.device();
    device.clear_graves();
    if !stream.is_capturing()? {
        return Ok(false);
    }
    let graph = graph_of(stream)?;
    let driver = device.bind_aside()?;
    let reference = Box::into_raw(Box::new(Reference { device: *device, kept }));
    let mut object = ptr::null_mut();
    let flags = sys::CUuserObject_flags_enum::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC as u32;
    // SAFETY: `object` is a place for the result; `bury` takes what `reference` is, once, when the count of 1 is down to 0.
    let created = unsafe { call!(driver, cuUserObjectCreate(&mut object, reference.cast(), Some(bury), 1, flags)) };
    if let Err(error) = created {
        // SAFETY: the driver did not take it.
        drop(unsafe { Box::from_raw(reference) });
        return Err(error);
    }
    let flags = sys::CUuserObjectRetain_flags_enum::CU_GRAPH_USER_OBJECT_MOVE as u32;
    // SAFETY: the graph exists while it is captured into, and the one reference to the object goes over to it.
    let retained = unsafe { call!(driver, cuGraphRetainUserObject(graph, object, 1, flags)) };
    if let Err(error) = retained {
        // SAFETY: the reference did not go over.
        _ = unsafe { call!(driver, cuUserObjectRelease(object, 1)) };
        return Err(error);
    }
    Ok(true)
}

/// The graph that the stream is being captured into.
fn graph_of(stream: &Stream) -> Result<sys::CUgraph, CudaError> {
    let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let (mut id, mut graph) = (0, ptr::null_mut());
    let (no_nodes, no_count) = (ptr::null_mut(), ptr::null_mut());
    let driver = stream.device().bind()?;
    // SAFETY: the stream exists as long as its handle; there are places for the results but for those not wanted.
    unsafe {
        call!(driver, cuStreamGetCaptureInfo_v2(stream.raw(), &mut status, &mut id, &mut graph, no_nodes, no_count))
    }?;
    if graph.is_null() {
        return Err(ArgumentError::CaptureEnded.into());
    }
    Ok(graph)
}

/// Takes back the reference of a graph that is gone.
///
/// # Safety
/// `reference` is a `Box<Reference>` that nobody else has.
unsafe extern "C" fn bury(reference: *mut c_void) {
    // SAFETY: the caller says so.
    let reference = unsafe { Box::from_raw(reference.cast::<Reference>()) };
    reference.device.graves().push(reference.kept);
}
