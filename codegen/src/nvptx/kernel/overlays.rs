//! Which results may lie over which records in shared memory.

use monoscan_ir::{Layout, Program, Source};

/// For each output column the input column that it may lie over in shared memory: the first one of the same record size whose next
/// record, or the one before, nobody reads and that no other lies over. None for what is kept, which does not lie beside its own record. A replay by
/// symbols reads no record but its own.
pub(crate) fn overlays(program: &Program, symbols: bool) -> Vec<Option<usize>> {
    let columns = || program.inputs.iter().enumerate();
    let of_components: Vec<usize> =
        columns().flat_map(|(place, column)| column.fields.iter().map(move |_| place)).collect();
    let read_beside: Vec<usize> =
        neighbour_components(program).map(|component| of_components[component as usize]).collect();
    let may_be_under = |place: &usize| program.output.filter.is_none() && (symbols || !read_beside.contains(place));
    let mut free: Vec<(usize, u32)> =
        columns().map(|(place, column)| (place, column.size)).filter(|(place, _)| may_be_under(place)).collect();
    let over = |column: &Layout| {
        let place = free.iter().position(|&(_, size)| size == column.size)?;
        Some(free.remove(place).0)
    };
    program.output.columns.iter().map(over).collect()
}

/// The components whose value in a neighbour is read.
fn neighbour_components(program: &Program) -> impl Iterator<Item = u32> {
    let mappings = program.stages.iter().map(|stage| &stage.lift);
    let mappings = mappings.chain([&program.output.project]).chain(&program.output.filter);
    mappings.flat_map(|mapping| &mapping.reads).filter_map(|source| match *source {
        Source::Next(component) | Source::Prev(component) => Some(component),
        _ => None,
    })
}
