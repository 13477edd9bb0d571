//! A pattern as a tree, and how long what it matches can be. Main type: [`Node`].

use crate::class::Class;
use std::sync::Arc;

/// What characters `.` leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dot {
    /// All line ends.
    Lines,
    /// `\n`.
    UnixLines,
    /// None; `\r\n` is one character.
    All,
}

/// What holds at a place without taking characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assertion {
    /// `^`, `\A`.
    TextStart,
    /// `^` with the flag m.
    LineStart,
    /// The same with the flag u.
    UnixLineStart,
    /// `\z`.
    TextEnd,
    /// `$`, `\Z`: before a line end that ends the text, too.
    LastLineEnd,
    /// `$` with the flag u.
    UnixLastLineEnd,
    /// `$` with the flag m.
    LineEnd,
    /// The same with the flag u.
    UnixLineEnd,
    /// `\b`.
    WordBoundary,
    /// `\B`.
    NoWordBoundary,
    /// `\G`.
    LastMatchEnd,
}

/// Which of the numbers of times comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greed {
    /// The most.
    Greedy,
    /// The least.
    Lazy,
    /// The most, and no other.
    Possessive,
}

/// A look ahead or behind.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// What is looked for.
    pub node: Node,
    /// Before the place: this least and most characters.
    pub behind: Option<(u32, u32)>,
    /// It must not be there.
    pub negative: bool,
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// These characters; folded where case does not count.
    Literal { characters: Box<[char]>, folded: bool },
    /// A character of a class. `named` for `\d` and its like.
    Class { class: Arc<Class>, named: bool },
    /// `.`.
    Dot(Dot),
    /// `\R`.
    LineBreak,
    /// `\X`.
    Cluster,
    /// What holds here.
    Assertion(Assertion),
    /// A group of that number, from 1.
    Group(u32, Box<Node>),
    /// What the group of that number matched.
    BackReference { group: u32, folded: bool },
    /// One after the other.
    Concatenation(Vec<Node>),
    /// One of these.
    Alternation(Vec<Node>),
    /// So many times; `interval` if written in braces.
    Repeat { node: Box<Node>, least: u32, most: Option<u32>, greed: Greed, interval: bool },
    /// The first way to match, and no other.
    Atomic(Box<Node>),
    /// A look ahead or behind.
    Look(Box<Look>),
}

impl Node {
    /// What matches nothing but the empty text.
    pub fn empty() -> Node {
        Node::Concatenation(Vec::new())
    }

    /// The least characters of a match.
    pub fn least_characters(&self) -> u32 {
        match self {
            // What is folded may be longer than what it matches.
            Node::Literal { folded: true, .. } => 1,
            Node::Literal { characters, .. } => characters.len() as u32,
            Node::Class { .. } | Node::Dot(_) | Node::LineBreak | Node::Cluster => 1,
            Node::Assertion(_) | Node::BackReference { .. } | Node::Look(_) => 0,
            Node::Group(_, node) | Node::Atomic(node) => node.least_characters(),
            Node::Concatenation(nodes) => {
                nodes.iter().fold(0, |sum, node| sum.saturating_add(node.least_characters()))
            }
            Node::Alternation(nodes) => nodes.iter().map(Node::least_characters).min().unwrap_or(0),
            Node::Repeat { node, least, .. } => node.least_characters().saturating_mul(*least),
        }
    }

    /// The most characters of a match; None without a bound.
    pub fn most_characters(&self) -> Option<u32> {
        Some(match self {
            Node::Literal { characters, .. } => characters.len() as u32,
            Node::Class { .. } => 1,
            Node::Dot(_) | Node::LineBreak => 2,
            Node::Assertion(_) => 0,
            // It takes nothing, but what it looks at must have a bound.
            Node::Look(look) => look.node.most_characters().map(|_| 0)?,
            // ICU sees no end of what `??` makes.
            Node::Repeat { greed: Greed::Lazy, interval: false, .. } => return None,
            Node::Cluster | Node::BackReference { .. } => return None,
            Node::Group(_, node) | Node::Atomic(node) => node.most_characters()?,
            Node::Concatenation(nodes) => {
                nodes.iter().try_fold(0u32, |sum, node| sum.checked_add(node.most_characters()?))?
            }
            Node::Alternation(nodes) => {
                nodes.iter().try_fold(0, |most, node| Some(node.most_characters()?.max(most)))?
            }
            Node::Repeat { most: Some(0), .. } => 0,
            Node::Repeat { node, most, .. } => node.most_characters()?.checked_mul((*most)?)?,
        })
    }
}
