//! What a match can begin with, so that most places of a text need not be tried. Main type: [`First`].

use crate::class::{Class, LINE_ENDS, ranges_of};
use crate::fold;
use crate::tree::{Assertion, Dot, Node};
use regex_syntax::hir::ClassUnicode;

/// How a match begins.
#[derive(Debug)]
pub(crate) enum First {
    /// At the beginning of the text.
    TextStart,
    /// At the beginning of a line, which is not within `\r\n`.
    LineStart,
    /// With one of these characters.
    OneOf(Class),
    /// Anywhere.
    Anything,
}

impl First {
    /// Of a tree.
    pub fn new(node: &Node) -> First {
        if begins_text(node) {
            return First::TextStart;
        }
        if begins_line(node) {
            return First::LineStart;
        }
        let mut class = ClassUnicode::empty();
        match add(node, &mut class) {
            Some(true) => First::OneOf(Class::new(&class)),
            _ => First::Anything,
        }
    }
}

fn begins_text(node: &Node) -> bool {
    match node {
        Node::Assertion(Assertion::TextStart) => true,
        Node::Group(_, node) | Node::Atomic(node) => begins_text(node),
        Node::Concatenation(nodes) => nodes.first().is_some_and(begins_text),
        Node::Alternation(nodes) => nodes.iter().all(begins_text),
        _ => false,
    }
}

/// Whether ICU looks for beginnings of lines: `^` before anything but a text, which it looks for instead.
fn begins_line(node: &Node) -> bool {
    let is_caret =
        |node: &Node| matches!(node, Node::Assertion(Assertion::LineStart | Assertion::UnixLineStart));
    let is_text =
        |node: &Node| matches!(node, Node::Literal { characters, folded: false } if characters.len() > 1);
    match node {
        Node::Group(_, node) | Node::Atomic(node) => begins_line(node),
        Node::Concatenation(nodes) => match &nodes[..] {
            [first, second, ..] => {
                is_caret(first) && !is_text(second) || begins_line(first) && !is_caret(first)
            }
            [only] => begins_line(only),
            [] => false,
        },
        only => is_caret(only),
    }
}

/// Adds what the node can begin with, and says whether it takes a character at least. None where that cannot be told.
fn add(node: &Node, class: &mut ClassUnicode) -> Option<bool> {
    match node {
        Node::Literal { characters, folded } => {
            let first = *characters.first()?;
            if *folded {
                class.union(&fold::beginning_with(first));
            } else {
                class.union(&ranges_of(&[(first, first)]));
            }
            Some(true)
        }
        Node::Class { class: found, .. } => {
            class.union(&found.to_ranges());
            Some(true)
        }
        Node::Dot(dot) => {
            let mut found = match dot {
                Dot::Lines => ranges_of(LINE_ENDS),
                Dot::UnixLines => ranges_of(&[('\n', '\n')]),
                Dot::All => ClassUnicode::empty(),
            };
            found.negate();
            class.union(&found);
            Some(true)
        }
        Node::LineBreak => {
            class.union(&ranges_of(LINE_ENDS));
            Some(true)
        }
        Node::Assertion(_) | Node::Look(_) => Some(false),
        Node::Cluster | Node::BackReference { .. } => None,
        Node::Group(_, node) | Node::Atomic(node) => add(node, class),
        Node::Concatenation(nodes) => {
            for node in nodes {
                if add(node, class)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Node::Alternation(nodes) => {
            let mut takes = true;
            for node in nodes {
                takes &= add(node, class)?;
            }
            Some(takes)
        }
        Node::Repeat { most: Some(0), .. } => Some(false),
        Node::Repeat { node, least, .. } => Some(add(node, class)? && *least > 0),
    }
}
