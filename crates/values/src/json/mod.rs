//! JSON values: MySQL's binary documents (a type byte and a value, as its columns hold them) and what is asked of them.
//! Main types: [`Node`], a cursor over the bytes of a document; [`Built`], a tree that is changed and then encoded.
//! Long work asks a [`Watch`] whether to go on.
//! Neighbours: the text parser, paths and functions are in the crate `json`. Damaged bytes read as null and never panic.

mod built;
mod compare;
mod convert;
mod element;
mod encode;
mod keys;
mod members;
mod node;
mod number_key;
mod opaque;
mod print;
#[cfg(test)]
mod random_tests;
mod scalar;
mod sound;
#[cfg(test)]
mod tests;
mod text;
mod watch;
mod writer;

pub use built::Built;
pub use compare::{compare, compare_watched};
pub use convert::{Fit, is_true, to_date_time, to_decimal, to_f64, to_integer, to_time};
pub use element::element_value;
pub use keys::{group_key, sort_key};
pub use members::Members;
pub use node::{Array, ArrayIter, Node, Object, ObjectIter, key_order};
pub use opaque::Opaque;
pub use print::{print, print_pretty, print_watched, quote};
pub use scalar::scalar;
pub use sound::is_sound;
pub use text::{TextError, in_utf8mb4, parse, read, read_whole_string};
pub use watch::{Steps, Unwatched, Watch};
pub use writer::Writer;

/// The document `null`.
pub const NULL: [u8; 2] = [4, 0];

/// How deep containers may be in each other: ER_JSON_DOCUMENT_TOO_DEEP beyond that.
pub const DEPTH_MAX: usize = 100;
/// Most bytes of a key: ER_JSON_KEY_TOO_BIG beyond that.
pub const KEY_BYTES_MAX: usize = u16::MAX as usize;

/// What errors call whoever made a document that is too long.
pub const SERIALIZER: &str = "json_binary::serialize";

/// The byte before each value that says what it is.
mod kind {
    pub(super) const SMALL_OBJECT: u8 = 0x00;
    pub(super) const LARGE_OBJECT: u8 = 0x01;
    pub(super) const SMALL_ARRAY: u8 = 0x02;
    pub(super) const LARGE_ARRAY: u8 = 0x03;
    pub(super) const LITERAL: u8 = 0x04;
    pub(super) const INT16: u8 = 0x05;
    pub(super) const UINT16: u8 = 0x06;
    pub(super) const INT32: u8 = 0x07;
    pub(super) const UINT32: u8 = 0x08;
    pub(super) const INT64: u8 = 0x09;
    pub(super) const UINT64: u8 = 0x0a;
    pub(super) const DOUBLE: u8 = 0x0b;
    pub(super) const STRING: u8 = 0x0c;
    pub(super) const OPAQUE: u8 = 0x0f;

    pub(super) fn of_container(is_object: bool, is_large: bool) -> u8 {
        match (is_object, is_large) {
            (true, false) => SMALL_OBJECT,
            (true, true) => LARGE_OBJECT,
            (false, false) => SMALL_ARRAY,
            (false, true) => LARGE_ARRAY,
        }
    }
}

/// What a literal's byte says.
mod literal {
    pub(super) const NULL: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
}
