//! Steps of XPath from nodes to nodes. Main function: [`step`]. A list of nodes holds each with its position among those that one step
//! found, from 0; a node may stand in it twice.

use super::document::{Document, KILL_LOOK_NODES, Kind};
use errors::SqlResult;

/// A node of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number in the document.
    pub node: u32,
    /// Its position among what the last step found from one node.
    pub position: u32,
}

/// A direction of a step. Axes that MySQL does not know are [`Axis::Child`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Elements that are directly in one.
    Child,
    /// Attributes.
    Attribute,
    /// The node itself.
    Itself,
    /// The element that it is in, or the document.
    Parent,
    /// The elements that it is in, the innermost at the first position.
    Ancestor,
    /// The same and itself.
    AncestorOrSelf,
    /// Elements in it, at any depth.
    Descendant,
    /// The same and itself.
    DescendantOrSelf,
}

impl Axis {
    /// All, to be named by their place.
    pub const ALL: [Axis; 8] = [
        Axis::Child,
        Axis::Attribute,
        Axis::Itself,
        Axis::Parent,
        Axis::Ancestor,
        Axis::AncestorOrSelf,
        Axis::Descendant,
        Axis::DescendantOrSelf,
    ];
}

/// Who counts the memory that lists take and looks for KILL: called with the bytes that the list takes, now and then.
pub type Hold<'h> = dyn FnMut(usize) -> SqlResult<()> + 'h;

/// What a step finds, and how much was looked at.
struct Found<'d, 'h> {
    document: &'d Document,
    places: Vec<Place>,
    looked: usize,
    hold: &'h mut Hold<'h>,
}

impl<'h> Found<'_, 'h> {
    fn look(&mut self) -> SqlResult<()> {
        self.looked += 1;
        if self.looked.is_multiple_of(KILL_LOOK_NODES) {
            (self.hold)(self.places.capacity() * size_of::<Place>())?;
        }
        Ok(())
    }

    /// Adds a node of that kind and name, at the next position.
    fn add(&mut self, node: u32, kind: Kind, name: &[u8], position: &mut u32) -> SqlResult<()> {
        self.look()?;
        let found = self.document.node(node);
        if found.kind == kind && (name == b"*" || self.document.text_of(found) == name) {
            self.places.push(Place { node, position: *position });
            *position += 1;
        }
        Ok(())
    }
}

/// The nodes of a name, or of any for `*`, in a direction from each of those.
pub fn step<'h>(
    document: &Document,
    from: &[Place],
    (axis, name): (Axis, &[u8]),
    hold: &'h mut Hold<'h>,
) -> SqlResult<Vec<Place>> {
    let mut found = Found { document, places: Vec::new(), looked: 0, hold };
    match axis {
        Axis::Parent | Axis::Ancestor | Axis::AncestorOrSelf => outwards(from, axis, name, &mut found)?,
        _ => {
            for place in from {
                inwards(place.node, axis, name, &mut found)?;
            }
        }
    }
    Ok(found.places)
}

fn inwards(start: u32, axis: Axis, name: &[u8], found: &mut Found<'_, '_>) -> SqlResult<()> {
    let document = found.document;
    let mut position = 0;
    if matches!(axis, Axis::Itself | Axis::DescendantOrSelf) {
        found.add(start, document.node(start).kind, name, &mut position)?;
    }
    match axis {
        Axis::Child => {
            for child in document.children(start) {
                found.add(child, Kind::Element, name, &mut position)?;
            }
        }
        Axis::Attribute => {
            for child in document.children(start) {
                found.add(child, Kind::Attribute, name, &mut position)?;
            }
        }
        Axis::Descendant | Axis::DescendantOrSelf => {
            for inner in start + 1..document.node(start).next {
                found.add(inner, Kind::Element, name, &mut position)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Each node once, in the order of the document.
fn outwards(from: &[Place], axis: Axis, name: &[u8], found: &mut Found<'_, '_>) -> SqlResult<()> {
    let document = found.document;
    let mut is_found = vec![false; document.len() as usize];
    let mut mark = |node: u32| {
        let known = document.node(node);
        is_found[node as usize] |= name == b"*" || document.text_of(known) == name;
    };
    for place in from {
        found.look()?;
        if axis == Axis::AncestorOrSelf {
            mark(place.node);
        }
        let mut node = place.node;
        // The document is a parent, but no ancestor.
        while node != 0 {
            node = document.node(node).parent;
            if node != 0 || axis == Axis::Parent {
                mark(node);
            }
            if axis == Axis::Parent {
                break;
            }
        }
    }
    let count = is_found.iter().filter(|is_found| **is_found).count() as u32;
    let mut index = 0;
    for (node, is_found) in is_found.iter().enumerate() {
        if *is_found {
            let position = if axis == Axis::Parent { index } else { count - 1 - index };
            found.places.push(Place { node: node as u32, position });
            index += 1;
        }
    }
    Ok(())
}

/// The nodes of two lists, each once, in the order of the document.
pub fn union(document: &Document, left: &[Place], right: &[Place]) -> Vec<Place> {
    let mut is_found = vec![false; document.len() as usize];
    left.iter().chain(right).for_each(|place| is_found[place.node as usize] = true);
    let numbers = is_found.iter().enumerate().filter(|(_, is_found)| **is_found);
    numbers
        .enumerate()
        .map(|(position, (node, _))| Place { node: node as u32, position: position as u32 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    fn found(text: &str, from: u32, axis: Axis, name: &str) -> Vec<(u32, u32)> {
        let document = Document::parse(text.as_bytes(), &Never).unwrap().unwrap();
        let from = [Place { node: from, position: 0 }];
        let places = step(&document, &from, (axis, name.as_bytes()), &mut |_| Ok(())).unwrap();
        places.iter().map(|place| (place.node, place.position)).collect()
    }

    #[test]
    fn steps() {
        const TEXT: &str = "<a><b/><c d='1'><b/></c></a>";
        assert_eq!(found(TEXT, 0, Axis::Child, "*"), [(1, 0)]);
        assert_eq!(found(TEXT, 1, Axis::Child, "c"), [(3, 0)]);
        assert_eq!(found(TEXT, 1, Axis::Descendant, "b"), [(2, 0), (6, 1)]);
        assert_eq!(found(TEXT, 6, Axis::AncestorOrSelf, "*"), [(1, 2), (3, 1), (6, 0)]);
        assert_eq!(found(TEXT, 1, Axis::Parent, "*"), [(0, 0)]);
        assert_eq!(found(TEXT, 1, Axis::Ancestor, "*"), []);
        assert_eq!(found(TEXT, 3, Axis::Attribute, "d"), [(4, 0)]);
    }
}
