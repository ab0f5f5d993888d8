//! The automaton of a JSON lexer, some forty states: a label for each byte.

use monoscan::lexer::{Lexer, Rules};
use monoscan::{Column, ColumnMut};

use super::{Session, tokens};
use crate::automaton::Automaton;
use crate::output::Output;
use crate::race::Field;
use crate::report::{Role, Row};
use bench_shared::scans;

pub(super) fn labels(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let lexer = Lexer::new(Rules::json()).expect("the rules of JSON are exact in one pass");
    let text = &tokens::json_text(session.json.as_deref(), len)[..];
    let y = &Output::exact(lexer.tables().expect("one pass lexes JSON").label_sequentially(text));
    let ours = [1, 2].map(|threads| scans::labels(&lexer, threads).expect("it is a lexer"));
    let automaton = Automaton::new(lexer.tables().ok().and_then(|tables| tables.ranks()).expect("one pass lexes JSON"));
    let premultiplied = automaton.premultiplied();
    let mut field = field;

    field.enter((Role::Baseline, "plain loop", 1), y, || automaton.labels(text, &mut y.write()));
    for (threads, scan) in (1..).zip(&ours) {
        field.enter((Role::Ours, "monoscan", threads), y, || {
            scan.inclusive_into(&[Column::new(text)], &mut [ColumnMut::new(&mut y.write())]).expect("one length");
        });
    }
    field.enter((Role::Rival, "premultiplied table", 1), y, || premultiplied.labels(text, &mut y.write()));
    field.race(session.effort)
}
