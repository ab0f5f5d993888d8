//! Rules for casts, bitcasts and byte vectors.

use super::Rewriter;
use crate::function::{Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

pub(super) fn rewrite(cx: &mut Rewriter, inst: &Inst) -> Option<Value> {
    match (inst.opcode, inst.payload, inst.operands()) {
        (Opcode::Cast, _, &[a]) => cast(cx, inst.ty, a),
        (Opcode::Bitcast, _, &[a]) => bitcast(cx, inst.ty, a),
        (Opcode::Lane, Payload::Lane(lane), &[a]) => self::lane(cx, a, lane),
        (Opcode::WithLane, Payload::Lane(lane), &[a, byte]) => with_lane(cx, a, lane, byte),
        (Opcode::Permute, _, &[a, b]) => permute(cx, a, b),
        _ => None,
    }
}

fn cast(cx: &mut Rewriter, to: Type, a: Value) -> Option<Value> {
    let through = cx.ty(a);
    if through == to {
        return Some(a);
    }
    let x = cx.unary(a, Opcode::Cast)?;
    let from = cx.ty(x);
    // Either the first step kept the value, and the second sees what a direct one would see; or both are between
    // integers and the second keeps no more bits than the first.
    let integers = !from.is_float() && !through.is_float() && !to.is_float() && through != Type::Bool;
    let narrowing = integers && to.bits() <= through.bits();
    let float_to_int = through.is_float() && !to.is_float();
    let direct = narrowing || (keeps_values(from, through) && (!float_to_int || from.is_float() || fits(from, to)));
    direct.then(|| cx.cast(Opcode::Cast, to, x))
}

/// Whether every value of `from` is one of `to`.
fn keeps_values(from: Type, to: Type) -> bool {
    match (from, to) {
        (Type::F32, Type::F64) => true,
        _ if from == to => true,
        _ if from.is_float() || to == Type::Bool => false,
        (_, Type::F32) => from.bits() <= 16,
        (_, Type::F64) => from.bits() <= 32,
        _ => fits(from, to),
    }
}

/// Whether every value of the integer type (or `bool`) `from` is one of the integer type `to`.
fn fits(from: Type, to: Type) -> bool {
    if from.is_signed() {
        to.is_signed() && from.bits() <= to.bits()
    } else {
        from.bits() + to.is_signed() as u32 <= to.bits()
    }
}

fn bitcast(cx: &mut Rewriter, to: Type, a: Value) -> Option<Value> {
    if cx.ty(a) == to {
        return Some(a);
    }
    let x = cx.unary(a, Opcode::Bitcast)?;
    Some(cx.cast(Opcode::Bitcast, to, x))
}

fn lane(cx: &mut Rewriter, a: Value, lane: u8) -> Option<Value> {
    if let Some(byte) = cx.unary(a, Opcode::Splat) {
        return Some(byte);
    }
    if let Some(inner) = cx.defined_by(a, Opcode::WithLane) {
        let &[vector, byte] = inner.operands() else { return None };
        return Some(if inner.payload == Payload::Lane(lane) { byte } else { take(cx, vector, lane) });
    }
    let (vector, indices) = cx.with_constant(a, Opcode::Permute)?;
    let index = *cx.known(indices)?.to_bytes().get(lane as usize)?;
    Some(if (index as usize) < cx.ty(vector).size() { take(cx, vector, index) } else { cx.constant(0u8) })
}

fn take(cx: &mut Rewriter, vector: Value, lane: u8) -> Value {
    cx.push(Inst::new(Opcode::Lane, Type::U8, &[vector], Payload::Lane(lane)))
}

fn with_lane(cx: &mut Rewriter, a: Value, lane: u8, byte: Value) -> Option<Value> {
    let here = Payload::Lane(lane);
    let unchanged =
        cx.defined_by(byte, Opcode::Lane).is_some_and(|taken| taken.operands() == [a] && taken.payload == here);
    if unchanged || cx.unary(a, Opcode::Splat) == Some(byte) {
        return Some(a);
    }
    let overwritten = cx.defined_by(a, Opcode::WithLane).filter(|inner| inner.payload == here)?;
    Some(cx.push(Inst::new(Opcode::WithLane, cx.ty(a), &[overwritten.operands()[0], byte], here)))
}

fn permute(cx: &mut Rewriter, a: Value, b: Value) -> Option<Value> {
    let (from, to) = (cx.ty(a), cx.ty(b));
    let indices = cx.known(b)?.to_bytes();
    if indices.iter().all(|&index| index as usize >= from.size()) {
        return Some(cx.constant(to.zero()));
    }
    let identity = indices.iter().enumerate().all(|(lane, &index)| lane == index as usize);
    if from == to && identity {
        return Some(a);
    }
    if let Some(byte) = cx.unary(a, Opcode::Splat) {
        let inside = indices.iter().all(|&index| (index as usize) < from.size());
        return inside.then(|| cx.push(Inst::new(Opcode::Splat, to, &[byte], Payload::None)));
    }
    // Two fixed permutations are one; 255 is a lane of no vector and reads 0.
    let (vector, first) = cx.with_constant(a, Opcode::Permute)?;
    let first = cx.known(first)?.to_bytes();
    let both: Vec<u8> = indices.iter().map(|&index| first.get(index as usize).copied().unwrap_or(255)).collect();
    let both = cx.constant(Constant::vector(&both));
    Some(cx.op(Opcode::Permute, &[vector, both]))
}
