//! How fast kernels of a program are, and so which of them work in vectors and whether two passes
//! pay.
//!
//! Figures are hundredths of a cycle an element. They come from counting, and were fitted to what
//! kernels take on a core with AVX-512; plans compare them with each other and nothing else.

use monoscan_ir::facts::Body;
use monoscan_ir::{Function, Inst, Opcode, Program, Source, Type};

use super::{ALONE_CYCLES, Association, REGISTERS, Reasons, busy_cycles};
use crate::cpu::{Vector, plain_operand};

/// The cost below which a kernel in vectors is chosen, in hundredths of that of the scalar one: counting is that good.
const MARGIN: usize = 90;

/// The same against W blocks side by side. In vectors they are read and written one after the other, which memory is faster
/// at: 1.2 times for sums of `f32` that no cache holds.
const MARGIN_IN_TURN: usize = 120;

/// The same of scans that keep, or look at neighbours, where scalar code makes places and truth values of what vectors have as masks.
/// On an EPYC sums of flagged `i32` took 0.63 times what they took element by element where 0.95 was counted.
const MARGIN_KEPT: usize = 130;

/// The cost below which one pass in vectors replaces two passes over W blocks, in hundredths of theirs. A biquad of `f32`
/// went from 1.6 to 0.96 ns an element on one thread in cache, and from 0.78 to 0.79 on two.
const MARGIN_ALONE: usize = 84;
/// The most that two passes in vectors may cost then, in the same hundredths.
const MARGIN_TOGETHER: usize = 145;

/// The cost below which two passes over blocks side by side replace one pass, in hundredths, since they wait for memory where no cache holds the line: maxima of
/// `f64` took 1.10 ns an element instead of 1.19 at 2^16, and 1.70 at 2^20.
const MARGIN_OF_BLOCKS: usize = 80;

/// How many places of memory a core fetches ahead of without help. Beyond that, blocks side by side wait for memory: affine
/// maps of `f32` took 2.3 ns an element in 8 × 3 places, and 1.4 ns one after the other.
const PLACES: usize = 16;

impl Reasons {
    /// The kernels that are faster in vectors.
    pub(super) fn vector(&self, interleave: usize) -> Vector {
        let is_faster =
            |lanes: Option<usize>, scalar, margin| lanes.is_some_and(|lanes| 100 * lanes <= margin * scalar);
        if self.is_alone() {
            return Vector {
                scan_one: is_faster(self.scan_in_lanes(), self.scalar_scan(1), MARGIN_KEPT),
                ..Vector::NONE
            };
        }
        let places = interleave * (self.reads.len() + self.writes.len());
        let margin = if interleave == 1 { MARGIN } else { MARGIN_IN_TURN };
        let scan = is_faster(self.scan_in_lanes(), self.scalar_scan(interleave), margin);
        if interleave > 1 && self.one_pass_pays(interleave) {
            return Vector::ALL;
        }
        let reduce = is_faster(self.reduce_in_lanes(), self.scalar_reduce(interleave), MARGIN);
        Vector {
            reduce,
            reduce_one: reduce && is_faster(self.reduce_in_lanes(), self.scalar_scan(1), MARGIN),
            scan: scan || places > PLACES && self.lanes.is_some(),
            scan_one: is_faster(self.scan_in_lanes(), self.scalar_scan(1), MARGIN),
            rows: self.lanes.is_some(),
        }
    }

    /// Whether one pass over a line is all that vectors do.
    pub(super) fn is_alone(&self) -> bool {
        self.lanes.is_some_and(|cost| cost.is_alone)
    }

    /// Whether one pass in vectors, where it is all that there is, must not be, since results are rounded: how much space there is
    /// for what is kept would show; or, unless it was asked for, all threads but one would have nothing to do.
    pub(super) fn shows_in_rounding(&self, interleave: usize, is_asked: bool) -> bool {
        let keeps_states = self.lanes.is_some_and(|cost| cost.keeps_states);
        keeps_states || self.is_alone() && !is_asked && self.gain(interleave, Vector::NONE, Association::Fixed) > 0
    }

    /// Whether all kernels should work in vectors, so that a thread that is alone takes one pass over blocks: if that is faster than two
    /// passes over W of them and no slower than one pass element by element, and two passes in vectors, which several threads take
    /// then, are not much slower.
    fn one_pass_pays(&self, interleave: usize) -> bool {
        let scalar = self.scalar_reduce(interleave) + self.scalar_scan(interleave);
        let lanes = self.reduce_in_lanes().zip(self.scan_in_lanes());
        lanes.is_some_and(|(reduce, scan)| {
            scan <= self.scalar_scan(1)
                && 100 * scan <= MARGIN_ALONE * scalar
                && 100 * (reduce + scan) <= MARGIN_TOGETHER * scalar
        })
    }

    /// The gain of an element by two passes over W blocks instead of one pass; 0 if there is none or, where calls may choose, little.
    pub(super) fn gain(&self, interleave: usize, vector: Vector, association: Association) -> usize {
        let [reduce, scan, scan_one] = self.speeds(interleave, vector);
        let one_after_the_other = vector.reduce && vector.scan;
        let margin = if one_after_the_other || association == Association::Fixed { 100 } else { MARGIN_OF_BLOCKS };
        if 100 * (reduce + scan) > margin * scan_one { 0 } else { scan_one - (reduce + scan) }
    }

    /// How many times the work of one pass two passes are, in hundredths.
    pub(super) fn passes(&self, interleave: usize, vector: Vector) -> usize {
        let [reduce, scan, scan_one] = self.speeds(interleave, vector);
        100 * (reduce + scan) / scan_one.max(1)
    }

    /// From how many threads on two passes are faster than one on one thread.
    pub(super) fn threads_that_pay(&self, interleave: usize, vector: Vector) -> usize {
        (self.passes(interleave, vector) * 100).div_ceil(100 * MARGIN).max(2)
    }

    /// How many elements one thread is done with before helpers pay.
    pub(super) fn alone(&self, interleave: usize, vector: Vector) -> usize {
        let [reduce, scan, scan_one] = self.speeds(interleave, vector);
        100 * ALONE_CYCLES / scan_one.min(reduce + scan).max(1)
    }

    /// A reduction, a replay of W blocks, and a replay of one.
    pub(super) fn speeds(&self, interleave: usize, vector: Vector) -> [usize; 3] {
        let either = |is_vector: bool, lanes: Option<usize>, scalar| lanes.filter(|_| is_vector).unwrap_or(scalar);
        [
            either(vector.reduce, self.reduce_in_lanes(), self.scalar_reduce(interleave)),
            either(vector.scan, self.scan_in_lanes(), self.scalar_scan(interleave)),
            either(vector.scan_one, self.scan_in_lanes(), self.scalar_scan(1)),
        ]
    }

    pub(super) fn chain(&self) -> usize {
        self.scalar_scan(1)
    }

    fn scalar_reduce(&self, interleave: usize) -> usize {
        scalar(self.fold_latency, self.fold_work, self.moved.0, self.carried.0, interleave)
    }

    fn scalar_scan(&self, interleave: usize) -> usize {
        scalar(self.replay_latency, self.replay_work, self.moved.1, self.carried.1, interleave)
    }

    fn reduce_in_lanes(&self) -> Option<usize> {
        self.lanes.map(|cost| 100 * cost.reduce / 3 / cost.records)
    }

    fn scan_in_lanes(&self) -> Option<usize> {
        self.lanes.map(|cost| 100 * cost.scan / 3 / cost.records)
    }
}

/// How many operations of the machine a function is, about: most opcodes are one.
pub(super) fn operations(function: &Function) -> usize {
    let of = |inst: &Inst| {
        let operand = inst.operands().last().and_then(|&last| function.type_of(last)).unwrap_or(inst.ty);
        match inst.opcode {
            Opcode::Const => 0,
            // Zeros and NaN have their rules.
            Opcode::Min | Opcode::Max if operand.is_float() && plain_operand(inst, function).is_none() => 9,
            Opcode::Select if operand.is_float() => 3,
            Opcode::Div | Opcode::Rem | Opcode::Sqrt => 8,
            _ => 1,
        }
    };
    function.insts.iter().map(of).sum()
}

/// How many values elements of a reduction, and of a replay, load and store.
pub(super) fn moved(program: &Program, folds: &[&Body], replay: &Body) -> (usize, usize) {
    let loads = |body: &Body| {
        let is_loaded = |source: &&Source| matches!(source, Source::Record(_) | Source::Next(_) | Source::Prev(_));
        body.mapping.reads.iter().filter(is_loaded).count()
    };
    let stores: usize = program.output.columns.iter().map(|column| column.fields.len()).sum();
    (folds.iter().map(|fold| loads(fold)).sum(), loads(replay) + stores)
}

/// How many factors of 0.5 or more have a product that is no denormal number of its type; none without products.
pub(super) fn most_factors(function: &Function) -> Option<usize> {
    use monoscan_ir::Opcode::{Mul, MulAdd};
    let products = function.insts.iter().filter(|inst| matches!(inst.opcode, Mul | MulAdd));
    let most = products.filter_map(|inst| match inst.ty {
        Type::F32 => Some(f32::MIN_EXP.unsigned_abs() as usize + 1),
        Type::F64 => Some(f64::MIN_EXP.unsigned_abs() as usize + 1),
        _ => None,
    });
    most.min()
}

/// W chains of this latency, or a core that is busy: with operations, values that are moved, and, where chains leave no register free, with
/// keeping what is carried in memory.
fn scalar(latency: usize, work: usize, moved: usize, carried: usize, interleave: usize) -> usize {
    let spilled = if carried * interleave >= REGISTERS { 2 * carried } else { 0 };
    (100 * latency).div_ceil(interleave).max(100 * busy_cycles(work)).max(25 * (work + moved + spilled + STEPPING))
}

/// Operations an element besides its own: the next place, and a share of the loop.
const STEPPING: usize = 2;

#[cfg(test)]
mod tests {
    use monoscan_ir::transform::{Form, lower};
    use monoscan_ir::{text, verify};

    use crate::cpu::Vector;
    use crate::plan::{Plan, PlanOptions, plan};
    use crate::target::CpuTarget;

    /// The plan of a running `op` over a column of `ty`.
    fn running(op: &str, ty: &str, size: usize, identity: &str) -> Plan {
        planned(&running_text(op, ty, size, identity))
    }

    fn running_text(op: &str, ty: &str, size: usize, identity: &str) -> String {
        format!(
            "program running
               input {{ size {size}, align {size}, {ty} @ 0 }}
               stage ({ty})
                 identity ({identity})
                 lift (%0 = record.0: {ty}) {{ return %0 }}
                 combine (%0: {ty}, %1: {ty}) {{
                   %2 = {op}.{ty} %0, %1
                   return %2
                 }}
               output write
                 column {{ size {size}, align {size}, {ty} @ 0 }}
                 project (%0 = state.0: {ty}) {{ return %0 }}"
        )
    }

    fn planned(text: &str) -> Plan {
        let program = lower(&verify(text::parse(text).unwrap()).unwrap(), Form::default());
        let target = CpuTarget { l1_bytes: 48 << 10, l2_bytes: 2 << 20 };
        plan(&program, &target, &PlanOptions::default())
    }

    /// The plan that was the fastest when measured: see the figures in `simd::cost`.
    #[test]
    fn the_measured_winners_are_chosen() {
        let pairs = include_str!("../../../ir/tests/files/facts/affine.scan");
        let column = "input { size 4, align 4, f32 @ 0 }";
        let columns = pairs.replace("input { size 8, align 4, f32 @ 0, f32 @ 4 }", &format!("{column}\n{column}"));
        let only_reduced = Vector { reduce: true, reduce_one: true, rows: true, ..Vector::NONE };
        let cases = [
            (running("add", "i32", 4, "0"), Vector::ALL),
            (running("add", "i16", 2, "0"), Vector::ALL),
            (running("add", "u8", 1, "0"), Vector::ALL),
            // Two lanes do not make up for the shuffles.
            (running("add", "i64", 8, "0"), only_reduced),
            // W blocks side by side take fewer instructions here, but more from memory.
            (running("add", "f32", 4, "0"), Vector::ALL),
            // A thread that is alone takes one pass then.
            (planned(pairs), Vector::ALL),
            (planned(&columns), Vector::ALL),
            (running("add", "f64", 8, "0"), Vector::ALL),
        ];
        for (plan, vector) in cases {
            assert_eq!(plan.vector, vector, "{plan}");
        }
    }

    #[test]
    fn records_of_two_components_are_two_loads_and_two_stores() {
        let pairs = include_str!("../../../ir/tests/files/facts/affine.scan");
        let wide = pairs.replace("size 8, align 4, f32 @ 0, f32 @ 4", "size 16, align 8, f64 @ 0, f64 @ 8");
        let wide = wide.replace("size 4, align 4, f32", "size 8, align 8, f64").replace("f32", "f64");
        let plan = planned(&wide);
        // Whole groups of 8: else no kernel does blocks in one pass.
        assert!(plan.vector == Vector::ALL && plan.block.is_multiple_of(8), "{plan:#}");
        assert!(plan.reasons.moved.0 == 2 && planned(pairs).reasons.moved.0 == 2, "{plan:#}");
    }

    /// Two passes over blocks of maxima take nine tenths of one.
    #[test]
    fn blocks_side_by_side_must_gain_where_calls_may_choose() {
        let plan = running("max", "f64", 8, "-inf");
        assert!(plan.is_sequential(1) && !plan.is_sequential(2), "{plan:#}");
    }

    /// Sums of `ty` at the records that differ from the next one, or at all.
    fn of_changes(ty: &str, size: usize, keeps: bool) -> Plan {
        let sum = running_text("add", ty, size, "0");
        let differs = format!(
            "(%0 = record.0: {ty}, %1 = next.0: {ty}, %2 = last: bool) {{
                   %3 = ne.bool %0, %1
                   %4 = or.bool %2, %3
                   return %4
                 }}"
        );
        planned(&match keeps {
            true => {
                sum.replace("output write", "output emit").replace("project", &format!("filter {differs}\nproject"))
            }
            false => sum.replace("record.0", "next.0"),
        })
    }

    /// Whatever space there is and however many threads, results that are rounded are the same.
    #[test]
    fn what_is_kept_is_summed_in_vectors_unless_that_rounds() {
        assert_eq!(of_changes("i32", 4, true).vector, Vector::ALONE);
        assert_eq!(of_changes("i32", 4, false).vector, Vector::ALONE);
        assert_eq!(of_changes("f32", 4, true).vector, Vector::NONE);
    }

    #[test]
    fn one_pass_in_vectors_is_preferred_where_any_order_will_do() {
        for plan in [running("add", "i32", 4, "0"), running("max", "f32", 4, "-inf")] {
            assert!(plan.vector.scan_one && plan.is_sequential(1), "{plan}");
        }
    }

    #[test]
    fn the_explanation_tells_what_works_in_vectors_and_why() {
        let text = format!("{:#}", running("add", "i64", 8, "0"));
        assert!(text.contains("reduction in vectors") && text.contains("replay element by element"), "{text}");
        let none = format!("{:#}", running("div", "i32", 4, "1"));
        assert!(none.contains("no form in vectors") && !none.contains("in vectors,"), "{none}");
    }
}
