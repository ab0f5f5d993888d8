//! Functions of Rust for the elements of one pass.
//!
//! The typed front end has the operator as its author wrote it, and rustc has compiled it. Both the
//! function and the generated loop give the same bits, so speed alone decides, by a
//! [race](super::race).

use std::hash::{Hash, Hasher};

use monoscan_codegen::cpu::{Native, NativeFn, NativeRowsFn, NativeSequencesFn, ShortFn};
use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Layout, Type};

/// The functions that take the elements of a program, one for each mode, and how their states lie in memory.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Natives {
    /// As [`Mode`](monoscan_ir::Mode) numbers them.
    pub lines: [NativeFn; 2],
    /// The same over segments, whose flags are a column behind the others.
    pub flagged: [NativeFn; 2],
    pub rows: [NativeRowsFn; 2],
    /// Writes nothing.
    pub reduce: NativeFn,
    pub from_identity: Option<FromIdentity>,
    /// Many sequences from these components.
    pub totals: NativeSequencesFn,
    /// Whether they see the records beside each, and where it is: then only those of lines are used.
    pub sees: bool,
    pub state: Layout,
    pub parameters: Vec<Type>,
}

/// Functions of sequences from the identity, into memory that is no column's; each gives how many elements or sequences it took.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct FromIdentity {
    pub identity: Vec<Constant>,
    pub lines: [ShortFn; 2],
    /// Over segments, whose flags are a column behind the others.
    pub flagged: [ShortFn; 2],
    /// Over rows, or segments between offsets.
    pub sequences: [NativeSequencesFn; 2],
}

impl Natives {
    /// The addresses by which functions are the same.
    fn addresses(&self) -> impl Iterator<Item = usize> {
        let lines = self.lines.into_iter().chain(self.flagged).chain([self.reduce]).map(|pass| pass as *const u8);
        let lines = lines.chain([self.totals as *const u8]);
        let short = self.from_identity.iter().flat_map(|of| {
            let passes = of.lines.into_iter().chain(of.flagged).map(|pass| pass as *const u8);
            passes.chain(of.sequences.map(|pass| pass as *const u8))
        });
        lines.chain(self.rows.map(|rows| rows as *const u8)).chain(short).map(|address| address.addr())
    }

    /// Those of a form, in which segments start from this state; none for segments if they see neighbours.
    pub(super) fn of(&self, form: Form, start: &[Constant], replaces_vectors: bool) -> Option<Native> {
        let Natives { lines, flagged, rows, reduce, from_identity, totals, sees, state, parameters } = self;
        let mode = form.mode as usize;
        let own = from_identity.as_ref().filter(|of| of.identity == start);
        let native = Native {
            pass: lines[mode],
            reduce: Some(*reduce),
            // The kernel's own loop over rows, which goes on where a function panics, counts no elements in them.
            rows: (!sees).then_some(rows[mode]),
            short: own.map(|of| of.lines[mode]),
            sequences: own.filter(|_| !sees).map(|of| of.sequences[mode]),
            totals: own.filter(|_| !sees).map(|_| *totals),
            sees: *sees,
            state: state.clone(),
            start: None,
            parameters: parameters.clone(),
            replaces_vectors,
        };
        match form.heads {
            false => Some(native),
            true if *sees => None,
            true => Some(Native {
                pass: flagged[mode],
                short: own.map(|of| of.flagged[mode]),
                start: Some(start.to_vec()),
                reduce: None,
                rows: None,
                sequences: None,
                totals: None,
                ..native
            }),
        }
    }
}

impl PartialEq for Natives {
    fn eq(&self, other: &Natives) -> bool {
        self.addresses().eq(other.addresses()) && self.state == other.state && self.parameters == other.parameters
    }
}

impl Eq for Natives {}

impl Hash for Natives {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.addresses().for_each(|address| address.hash(hasher));
        self.state.hash(hasher);
        self.parameters.hash(hasher);
    }
}

/// Puts components where they lie.
pub(super) fn put(layout: &Layout, memory: &mut [u8], components: &[Constant]) {
    let fields = layout.fields.iter().zip(components);
    fields.for_each(|(field, component)| component.write_to(&mut memory[field.offset as usize..]));
}
