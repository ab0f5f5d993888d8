use scan_ir::{FunctionBuilder, Value};
pub fn exp(_: &mut FunctionBuilder, a: Value) -> Value {
    a
}
pub fn ln(_: &mut FunctionBuilder, a: Value) -> Value {
    a
}
pub fn exp2(_: &mut FunctionBuilder, a: Value) -> Value {
    a
}
pub fn log2(_: &mut FunctionBuilder, a: Value) -> Value {
    a
}
pub fn tanh(_: &mut FunctionBuilder, a: Value) -> Value {
    a
}
