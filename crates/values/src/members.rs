//! The members of ENUM and SET types. Main type: [`Members`]. Most types have none, and are copied at every turn: then there is
//! nothing to allocate and no count that cores would share. Immutable.

use std::ops::Deref;
use std::sync::Arc;

/// The members, in the column's character set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(Option<Arc<[Vec<u8>]>>);

impl From<Vec<Vec<u8>>> for Members {
    fn from(members: Vec<Vec<u8>>) -> Members {
        Members((!members.is_empty()).then(|| members.into()))
    }
}

impl Deref for Members {
    type Target = [Vec<u8>];

    #[inline]
    fn deref(&self) -> &[Vec<u8>] {
        self.0.as_deref().unwrap_or_default()
    }
}
