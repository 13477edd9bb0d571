//! What long work over documents asks of the statement that it is done for. Main type: [`DocumentWatch`].

use crate::context::EvaluationContext;
use errors::SqlResult;
use functions::Interrupt;
use std::cell::{Cell, RefCell};
use values::json::Watch;

/// Ends the work once the statement was killed or ran out of time (errors 1317, 3024), and counts the bytes that it holds: error
/// 1114 beyond what the statement may. They are given back when it goes.
pub struct DocumentWatch<'c> {
    context: RefCell<&'c mut dyn EvaluationContext>,
    held: Cell<usize>,
    bytes_max: u64,
}

impl<'c> DocumentWatch<'c> {
    /// A watch that holds nothing yet.
    pub fn new(context: &'c mut dyn EvaluationContext) -> DocumentWatch<'c> {
        let bytes_max = context.facts().max_allowed_packet;
        DocumentWatch { context: RefCell::new(context), held: Cell::new(0), bytes_max }
    }

    /// Bytes of the longest document that a function may give: `max_allowed_packet`.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }
}

impl Watch for DocumentWatch<'_> {
    fn go_on(&self, bytes: usize) -> SqlResult<()> {
        let mut context = self.context.borrow_mut();
        context.check_killed()?;
        context.occupy(bytes)?;
        self.held.set(self.held.get() + bytes);
        Ok(())
    }
}

impl Interrupt for DocumentWatch<'_> {
    fn check_killed(&self) -> SqlResult<()> {
        self.go_on(0)
    }
}

impl Drop for DocumentWatch<'_> {
    fn drop(&mut self) {
        self.context.get_mut().vacate(self.held.get());
    }
}
