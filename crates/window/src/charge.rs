//! Memory of what a window keeps beside its rows. Main type: [`Charge`].

use errors::SqlResult;
use spill::{LongHeld, Workspace};
use std::rc::Rc;

/// Bytes that are charged to the statement once they are many; error 1114 beyond what it may hold.
pub(crate) struct Charge {
    workspace: Rc<Workspace>,
    held: LongHeld,
}

impl Charge {
    pub fn new(workspace: &Rc<Workspace>) -> Charge {
        Charge { workspace: workspace.clone(), held: LongHeld::default() }
    }

    /// Holds so many bytes in all.
    #[inline]
    pub fn reach(&mut self, bytes: usize) -> SqlResult<()> {
        self.held.reach(bytes, || self.workspace.clone())
    }
}
