//! What long work over documents asks of a running statement where its context is lent to somebody else. Main type:
//! [`DocumentWatch`]; that of functions is `expression::DocumentWatch`.

use crate::{Held, check_flag};
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
    /// For a statement with that flag, which holds nothing yet and takes documents of so many bytes.
    pub fn new(kill: &'s KillFlag, held: Held, bytes_max: u64) -> DocumentWatch<'s> {
        DocumentWatch { kill, held: RefCell::new(held), bytes_max }
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
