//! [`OwnLine`]: a value on lines of memory of its own.

use std::ops::{Deref, DerefMut};

/// A value that shares no line of memory with its neighbours: who writes it does not take away theirs from other cores. 128 bytes,
/// because lines are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct OwnLine<T>(pub T);

impl<T> Deref for OwnLine<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for OwnLine<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
