//! Statements that start within a statement: the bodies of stored functions, called while an expression is evaluated.
//! Main types: [`Program`], [`Runner`], [`Frame`].
//!
//! Rules, as MySQL 9.7 has them unless said otherwise (`tests.rs` beside this file has what was measured):
//! 1. A call borrows the parts of the statement that calls ([`Parts::within`]): the same transaction, the same user variables,
//!    the same KILL. What is the statement's own is in its [`Frame`].
//! 2. The calling statement locks the tables of every program that it can reach before its first row (`planned.rs`); a
//!    statement of a program finds them held and looks only whether its kept plan is current.
//! 3. LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS() and the counts of conditions are after a call what they
//!    were before it, however it ended. What a program's statements warn of is forgotten with them.
//! 4. A statement that fails within a program is undone alone, and the program goes on or fails by its own choice.
//!    MySQL keeps the rows that such a statement changed before it failed; nobody can want that. But a deadlock and a KILL end
//!    the calling statement too, whatever the program makes of them.
//! 5. A program changes no table that a statement which called it uses (1442), and does not call itself (1424).
//! 6. The programs of a statement do not commit: their transaction is the statement's.

mod frame;
mod routine;
mod runner;
#[cfg(test)]
mod tests;

#[cfg(doc)]
use crate::parts::Parts;
pub(crate) use frame::Frame;
pub(crate) use routine::program_of;
pub use routine::{NestedStatement, Program};
pub use runner::Runner;
