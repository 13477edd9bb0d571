//! What long work over documents asks of a running statement where its context is lent to somebody else. Main type:
//! [`DocumentWatch`]; that of functions is `expression::DocumentWatch`.

use crate::run::Run;
use ::spill::{Held, check_flag};
use engine::KillFlag;
use errors::SqlResult;
use std::cell::RefCell;
use values::json::Watch;
use values::store::Documents;

/// Ends the work once the statement was killed, and counts the bytes that it holds: error 1114 beyond what the statement may.
/// They are given back when it goes.
pub struct DocumentWatch<'s> {
    kill: &'s KillFlag,
    held: RefCell<Held>,
    bytes_max: u64,
}

impl<'s> DocumentWatch<'s> {
    pub(crate) fn new(run: &Run<'_, 's>) -> DocumentWatch<'s> {
        DocumentWatch {
            kill: run.statement.kill,
            held: RefCell::new(run.hold()),
            bytes_max: run.statement.facts.max_allowed_packet,
        }
    }

    /// What a stored document may take.
    pub fn documents(&self) -> Documents<'_> {
        Documents { bytes_max: self.bytes_max, watch: self }
    }
}

impl Watch for DocumentWatch<'_> {
    fn go_on(&self, bytes: usize) -> SqlResult<()> {
        check_flag(self.kill)?;
        self.held.borrow_mut().grow(bytes as u64)
    }
}
