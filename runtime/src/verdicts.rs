//! Verdicts on operators, remembered: judging costs up to two milliseconds, and programs are built again and again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use scan_ir::laws::{self, Judgement, Overflow};
use scan_ir::{Stage, Table};

/// More verdicts than this are not remembered at once.
const CAPACITY: usize = 256;

type Verdicts = HashMap<(Stage, Vec<Table>, Overflow), Arc<Judgement>>;

static KNOWN: LazyLock<Mutex<Verdicts>> = LazyLock::new(Mutex::default);

/// The judgement of an operator, found now or earlier.
pub(crate) fn judge(stage: &Stage, tables: &[Table], overflow: Overflow) -> Arc<Judgement> {
    let key = (stage.clone(), tables.to_vec(), overflow);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(judgement) = known().get(&key) {
        return Arc::clone(judgement);
    }
    let judgement = Arc::new(laws::judge(stage, tables, overflow));
    let mut known = known();
    if known.len() >= CAPACITY {
        known.clear();
    }
    known.insert(key, Arc::clone(&judgement));
    judgement
}
