//! The arguments of a kernel: one block of bytes, passed by value, and the header of its workspace.
//!
//! | offset | type | meaning |
//! |---|---|---|
//! | 0 | `u64` | records of a row; a line is one row |
//! | 8 | address | workspace: the header, then tile states |
//! | 16 | address | where totals go, a multiple of 4, row by row, each as the start below is laid out; 0 for nowhere |
//! | 24 | `u64` | nanoseconds after which a wait for another block is given up |
//! | 32 | `u64` | records that the output columns of a program that filters can take |
//! | 40 | `u64` | 1 for from the last record to the first, else 0 |
//! | 48 | `u64` | rows |
//! | 56 | `u64` | records from a plane to the next |
//! | 64 | `u64` | records from a record of a row to the next, which is how many rows a plane has |
//! | 72 | address | for each row the state that its first record starts from, and the initial state; 0 if all rows have those below |
//! | 80 | `u64` | records of a chunk, in kernels of a thread for each row; if fewer than a row has, then rows, starts and totals are those of chunks |
//! | 88 | addresses | input columns, then output columns |
//! | then, at a multiple of 16 | components | the state that the first record starts from, all stages in order, [packed](Layout::packed) |
//! | then, at a multiple of 16 | components | the initial state that programs may read, in the same way |
//! | then, at a multiple of 16 | values | the program's parameters, packed |
//!
//! The states of a row lie as those of the block do, each at a multiple of 16. Rings take one line,
//! and read those of the block alone.
//!
//! The 8 bytes before totals begin with a `u32` for a fault, as those at 8 of the header do: blocks
//! that give up write both. So totals may lie in memory of the host, which sees faults there.

use monoscan_ir::{Layout, Program, Type};

/// Bytes of the header of a workspace. A workspace begins as zeros.
pub const HEADER_BYTES: usize = 64;
/// Where the header has the next ticket, as `u32`. A launch leaves zero.
pub const TICKET: usize = 0;
/// Where it has how many launches there were, as `u32`: the tags of the next one's tile states are one more. With the
/// ticket below it, it is one word of 64 bits.
pub const EPOCH: usize = 4;
/// Where it has what went wrong, as `u32`; 0 for nothing.
pub const FAULT: usize = 8;
/// How far before totals a fault is written, too.
pub const FAULT_BEFORE_TOTALS: usize = 8;
/// The fault of a block that waited too long for another.
pub const FAULT_STUCK: u32 = 1;

/// Where the arguments of a program's kernels are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Arguments {
    /// How many input columns.
    pub inputs: usize,
    /// How many output columns.
    pub outputs: usize,
    /// The components of all stages, in order.
    pub states: Layout,
    /// The program's parameters.
    pub parameters: Layout,
}

impl Arguments {
    /// Where the number of records of a row is.
    pub const RECORDS: usize = 0;
    /// Where the address of the workspace is.
    pub const WORKSPACE: usize = 8;
    /// Where the address for totals is.
    pub const TOTAL: usize = 16;
    /// Where the time limit is.
    pub const TIMEOUT: usize = 24;
    /// Where the number of records is that the output columns can take.
    pub const CAPACITY: usize = 32;
    /// Where the direction is.
    pub const REVERSED: usize = 40;
    /// Where the number of rows is.
    pub const ROWS: usize = 48;
    /// Where the distance of planes is.
    pub const PITCH: usize = 56;
    /// Where the distance of the records of a row is.
    pub const STEP: usize = 64;
    /// Where the address of the states of rows is.
    pub const STATES_OF_ROWS: usize = 72;
    /// Where the number of records is that a thread of a columnar kernel takes.
    pub const CHUNK: usize = 80;
    const COLUMNS: usize = 88;

    /// Those of a lowered program.
    pub fn of(program: &Program) -> Arguments {
        let states: Vec<Type> = program.stages.iter().flat_map(|stage| stage.state.iter().copied()).collect();
        let (inputs, outputs) = (program.inputs.len(), program.output.columns.len());
        let parameters = Layout::packed(&program.parameters);
        Arguments { inputs, outputs, states: Layout::packed(&states), parameters }
    }

    /// Where the address of a column is; output columns are numbered after the input columns.
    pub fn column(&self, place: usize) -> usize {
        Arguments::COLUMNS + 8 * place
    }

    /// Where the state is that the first record starts from.
    pub fn start(&self) -> usize {
        self.column(self.inputs + self.outputs).next_multiple_of(16)
    }

    /// Where the initial state is.
    pub fn init(&self) -> usize {
        self.start() + (self.states.size as usize).next_multiple_of(16)
    }

    /// Bytes of the states of a row, where rows have their own: where [`start`](Arguments::start) is, and then the others.
    pub fn row_bytes(&self) -> usize {
        self.parameters() - self.start()
    }

    /// Where the parameters are.
    pub fn parameters(&self) -> usize {
        self.init() + (self.states.size as usize).next_multiple_of(16)
    }

    /// Bytes of all arguments.
    pub fn bytes(&self) -> usize {
        self.parameters() + (self.parameters.size as usize).next_multiple_of(16)
    }
}
