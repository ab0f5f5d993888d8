//! Which line of a text each part of the parsed program stands on, so that the verifier's
//! diagnostics, which know nothing of texts, can be shown where they belong.

use std::collections::HashMap;

use crate::verify::{Item, Part, Place};

/// The lines of a parsed text, from 1.
#[derive(Clone, Debug, Default)]
pub struct Lines(HashMap<Place, usize>);

impl Lines {
    pub(super) fn set(&mut self, part: Part, item: Item, line: usize) {
        self.0.insert(Place { part, item }, line);
    }

    /// The line of a place; where the text has none of its own for it, that of the part it belongs to, else line 1.
    pub fn line_of(&self, place: Place) -> usize {
        let whole = Place { item: Item::Whole, ..place };
        self.0.get(&place).or_else(|| self.0.get(&whole)).copied().unwrap_or(1)
    }
}
