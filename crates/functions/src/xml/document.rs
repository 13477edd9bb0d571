//! A document as a list of nodes in the order of the text. Main type: [`Document`].

use super::reader::{self, Interruption};
use crate::pieces::Interrupt;
use errors::{SqlError, SqlResult};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An element, a declaration, or the document itself.
    Element,
    /// An attribute.
    Attribute,
    /// Text of an element, or the value of an attribute.
    Text,
}

/// A node. Places are bytes of the text.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// The node that it is in; the document's own number for itself.
    pub parent: u32,
    /// The number behind the last node in it.
    pub next: u32,
    /// Where its name, or its text, starts.
    pub start: u32,
    /// Where that ends.
    pub end: u32,
    /// Where the whole of it ends.
    pub whole_end: u32,
}

/// A document. The first node is the document itself, which has no name.
#[derive(Debug)]
pub struct Document {
    pub(super) text: Vec<u8>,
    pub(super) nodes: Vec<Node>,
}

impl Document {
    /// The most bytes that the nodes of a text can take, besides the text.
    pub fn node_bytes_max(text: &[u8]) -> usize {
        // A tag is a node and has text behind it; an attribute and its value are two nodes and have a blank or quote between them.
        let marks = text.iter().filter(|byte| matches!(byte, b'<' | b'=' | b' ' | b'\t' | b'\n' | b'\r'));
        (marks.count() * 2 + 2).saturating_mul(size_of::<Node>())
    }

    /// Reads a text. The inner error is what the text lacks, for warning 1525. Error 1317 when the statement was killed.
    pub fn parse(text: &[u8], interrupt: &dyn Interrupt) -> SqlResult<Result<Document, String>> {
        match reader::read(text, interrupt) {
            Ok(nodes) => Ok(Ok(Document { text: text.to_vec(), nodes })),
            Err(Interruption::Wrong(message)) => Ok(Err(message)),
            Err(Interruption::Killed(error)) => Err(error),
        }
    }

    /// How many nodes there are.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Never: the document itself is a node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node.
    pub fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    /// The name or the text of a node.
    pub fn text_of(&self, node: &Node) -> &[u8] {
        &self.text[node.start as usize..node.end as usize]
    }

    /// Bytes of the text.
    pub fn text_between(&self, start: u32, end: u32) -> &[u8] {
        &self.text[start as usize..end as usize]
    }

    /// The numbers of the nodes that are directly in one.
    pub fn children(&self, number: u32) -> impl Iterator<Item = u32> {
        let end = self.node(number).next;
        let first = (number + 1 < end).then_some(number + 1);
        std::iter::successors(first, move |child| Some(self.node(*child).next).filter(|next| *next < end))
    }

    /// The texts that are directly in one of those nodes, in the order of the document, with blanks between them.
    pub fn joined_text(
        &self,
        nodes: impl Iterator<Item = u32>,
        interrupt: &dyn Interrupt,
    ) -> SqlResult<Vec<u8>> {
        let mut is_wanted = vec![false; self.nodes.len()];
        nodes.for_each(|number| is_wanted[number as usize] = true);
        let mut out = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if index % KILL_LOOK_NODES == 0 {
                interrupt.check_killed()?;
            }
            if node.kind == Kind::Text && is_wanted[node.parent as usize] {
                if !out.is_empty() {
                    out.push(b' ');
                }
                out.extend_from_slice(self.text_of(node));
            }
        }
        Ok(out)
    }

    /// The text with another one in the place of a node.
    pub fn replaced(&self, number: u32, with: &[u8]) -> Vec<u8> {
        let node = self.node(number);
        let (start, end) = match node.kind {
            _ if number == 0 => (0, self.text.len()),
            // The character before a name opens the tag.
            Kind::Element => (node.start as usize - 1, (node.whole_end as usize).min(self.text.len())),
            _ => (node.start as usize, node.whole_end as usize),
        };
        [&self.text[..start], with, &self.text[end..]].concat()
    }
}

/// Nodes between two looks at KILL.
pub(super) const KILL_LOOK_NODES: usize = 1 << 16;

impl From<SqlError> for Interruption {
    fn from(error: SqlError) -> Interruption {
        Interruption::Killed(error)
    }
}
