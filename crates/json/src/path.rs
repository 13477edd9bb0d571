//! Paths into documents: [`Path`], its steps [`Leg`], and how they are printed. Neighbours: `path/reader.rs` reads their text,
//! `find.rs` follows them.

mod identifier;
mod reader;

use errors::{SqlResult, sql_error};
use identifier::is_identifier;
use std::fmt;
use values::json::quote;

/// A path such as `$.a[0]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    legs: Vec<Leg>,
}

/// A step from values to values in them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Leg {
    /// `.key`: the member of that key.
    Member(Vec<u8>),
    /// `.*`: all members.
    AnyMember,
    /// `[2]`, `[last-2]`: one element.
    Cell(Cell),
    /// `[1 to last]`: the elements from one to another.
    Range(Cell, Cell),
    /// `[*]`: all elements.
    AnyCell,
    /// `**`: the value itself and all that is in it.
    Descendants,
}

/// A position in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// How far from the first element, or from the last one.
    pub distance: u32,
    /// Whether the distance counts backwards from the last element.
    pub is_from_end: bool,
}

/// Where a value is in its container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place<'d> {
    /// The key in an object.
    Member(&'d [u8]),
    /// The position in an array.
    Cell(usize),
}

impl Path {
    /// Reads a path in utf8mb4. ER_INVALID_JSON_PATH has the byte at which reading stopped.
    pub fn parse(text: &[u8]) -> SqlResult<Path> {
        match reader::read(text) {
            Ok(legs) => Ok(Path { legs }),
            Err(position) => Err(sql_error!(ER_INVALID_JSON_PATH, position, "")),
        }
    }

    /// As [`Path::parse`]; ER_INVALID_JSON_PATH_WILDCARD if the path may lead to more than one value.
    pub fn parse_single(text: &[u8]) -> SqlResult<Path> {
        let path = Path::parse(text)?;
        match path.is_single() {
            true => Ok(path),
            false => Err(sql_error!(ER_INVALID_JSON_PATH_WILDCARD)),
        }
    }

    /// A path of these steps.
    pub fn of(legs: Vec<Leg>) -> Path {
        Path { legs }
    }

    /// The steps from the document's value.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Whether it leads to one value at most: it has neither wildcards nor ranges.
    pub fn is_single(&self) -> bool {
        self.legs.iter().all(|leg| matches!(leg, Leg::Member(_) | Leg::Cell(_)))
    }
}

impl Leg {
    /// Whether the step from a value that is no array stays there, as if the value were alone in an array.
    pub(crate) fn stays_at_scalar(&self) -> bool {
        match self {
            Leg::Cell(cell) => cell.distance == 0,
            Leg::Range(from, to) => {
                let (start, end) = range_of(*from, *to, 1);
                start < end
            }
            _ => false,
        }
    }
}

impl Cell {
    /// The position in an array of that length; None if it is before the first or after the last element.
    pub fn position(self, length: usize) -> Option<usize> {
        let distance = self.distance as usize;
        (distance < length).then(|| if self.is_from_end { length - 1 - distance } else { distance })
    }

    /// As [`Cell::position`], with the start or the end of the array for what is outside.
    pub fn nearest(self, length: usize) -> usize {
        self.position(length).unwrap_or(if self.is_from_end { 0 } else { length })
    }
}

/// The first position of a range in an array of that length, and the one behind its last.
pub(crate) fn range_of(from: Cell, to: Cell, length: usize) -> (usize, usize) {
    let end = to.position(length).map_or(to.nearest(length), |last| last + 1);
    (from.nearest(length), end)
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("$")?;
        let mut follows_descendants = false;
        for leg in &self.legs {
            let is_descendants = *leg == Leg::Descendants;
            // Stars of two legs may not touch.
            if follows_descendants && is_descendants {
                out.write_str(" ")?;
            }
            leg.fmt(out)?;
            follows_descendants = is_descendants;
        }
        Ok(())
    }
}

impl fmt::Display for Leg {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leg::Member(key) => Place::Member(key).fmt(out),
            Leg::AnyMember => out.write_str(".*"),
            Leg::Cell(cell) => write!(out, "[{cell}]"),
            Leg::Range(from, to) => write!(out, "[{from} to {to}]"),
            Leg::AnyCell => out.write_str("[*]"),
            Leg::Descendants => out.write_str("**"),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_from_end, self.distance) {
            (false, distance) => write!(out, "{distance}"),
            (true, 0) => out.write_str("last"),
            (true, distance) => write!(out, "last-{distance}"),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Cell(position) => write!(out, "[{position}]"),
            Place::Member(key) => {
                let mut text = Vec::new();
                match is_identifier(key) {
                    true => text.extend_from_slice(key),
                    false => quote(key, &mut text),
                }
                write!(out, ".{}", String::from_utf8_lossy(&text))
            }
        }
    }
}
