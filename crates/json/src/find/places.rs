//! The places of a document that a search has been at: [`Places`]. It tells whether a value has been reached before, and the way
//! to it.

use crate::path::Place;
use std::collections::{HashMap, HashSet};

/// Numbers of places. The document's own value is 0.
#[derive(Default)]
pub(super) struct Places<'d> {
    /// For each place from 1: the container's place and the way from there.
    ways: Vec<(u32, Place<'d>)>,
    numbers: HashMap<(u32, u32), u32>,
    /// Each place with the number of legs that led to it.
    reached: HashSet<(u32, usize)>,
}

impl<'d> Places<'d> {
    /// The number of the place that is at a position in a container.
    pub(super) fn enter(&mut self, container: u32, (position, place): (u32, Place<'d>)) -> u32 {
        let ways = &mut self.ways;
        *self.numbers.entry((container, position)).or_insert_with(|| {
            ways.push((container, place));
            ways.len() as u32
        })
    }

    /// Whether that many legs lead to the place for the first time.
    pub(super) fn is_new(&mut self, place: u32, leg: usize) -> bool {
        self.reached.insert((place, leg))
    }

    /// The way from the document's value to a place.
    pub(super) fn way_to(&self, mut place: u32) -> Vec<Place<'d>> {
        let mut way = Vec::new();
        while let Some((container, step)) = (place as usize).checked_sub(1).and_then(|at| self.ways.get(at)) {
            way.push(*step);
            place = *container;
        }
        way.reverse();
        way
    }
}
