//! What the built-in functions compute: bytes, numbers, dates and times in, bytes, numbers, dates and times out.
//! Knows no expressions, rows or sessions: `expression` evaluates arguments, derives types and warns. See README.md.
#![forbid(unsafe_code)]

pub mod accounts;
pub mod cipher;
mod generated;
pub mod hash;
pub mod locale;
pub mod network;
pub mod numeric;
pub mod pieces;
pub mod regexp;
pub mod statement_digest;
pub mod string;
pub mod temporal;
pub mod text;
pub mod uuid;
pub mod xml;

pub use pieces::Interrupt;
