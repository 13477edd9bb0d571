//! What long work over documents asks now and then. Main type: [`Watch`]; [`Steps`] counts when to ask.

use errors::SqlResult;
use std::cmp::Ordering;

/// Whether work may go on.
pub trait Watch {
    /// Asked after some thousand steps, and before so many bytes more are held. The error ends the work.
    fn go_on(&self, bytes: usize) -> SqlResult<()>;
}

/// Nobody ends it.
pub struct Unwatched;

impl Watch for Unwatched {
    fn go_on(&self, _bytes: usize) -> SqlResult<()> {
        Ok(())
    }
}

/// Steps after which work asks.
const STEPS: u32 = 4096;
/// Bytes after which work asks.
const BYTES: usize = 1 << 16;

/// Items that are sorted at once.
const RUN: usize = 1 << 10;

/// Counts the steps of one piece of work.
pub struct Steps<'w> {
    watch: &'w dyn Watch,
    left: u32,
    bytes: usize,
}

impl<'w> Steps<'w> {
    /// Steps that nobody made yet.
    pub fn new(watch: &'w dyn Watch) -> Steps<'w> {
        Steps { watch, left: STEPS, bytes: 0 }
    }

    /// One step further, which takes so many bytes.
    #[inline]
    pub fn next(&mut self, bytes: usize) -> SqlResult<()> {
        self.left -= 1;
        self.bytes += bytes;
        if self.left > 0 && self.bytes < BYTES {
            return Ok(());
        }
        self.ask()
    }

    /// Asks at once: after work of many steps.
    #[cold]
    pub fn ask(&mut self) -> SqlResult<()> {
        self.left = STEPS;
        self.watch.go_on(std::mem::take(&mut self.bytes))
    }

    /// Sorts as `sort_by` does, and asks meanwhile: runs are sorted first, then they are merged.
    pub fn sort<T: Copy>(
        &mut self,
        items: &mut Vec<T>,
        compare: impl Fn(&T, &T) -> Ordering,
    ) -> SqlResult<()> {
        for run in items.chunks_mut(RUN) {
            run.sort_by(&compare);
            self.next(0)?;
        }
        let mut width = RUN;
        if width < items.len() {
            self.next(size_of_val(items.as_slice()))?;
        }
        let mut merged = Vec::with_capacity(if width < items.len() { items.len() } else { 0 });
        while width < items.len() {
            merged.clear();
            for pair in items.chunks(2 * width) {
                let (left, right) = pair.split_at(width.min(pair.len()));
                self.merge(left, right, &mut merged, &compare)?;
            }
            std::mem::swap(items, &mut merged);
            width *= 2;
        }
        Ok(())
    }

    fn merge<T: Copy>(
        &mut self,
        mut left: &[T],
        mut right: &[T],
        merged: &mut Vec<T>,
        compare: impl Fn(&T, &T) -> Ordering,
    ) -> SqlResult<()> {
        while let (Some((first, left_rest)), Some((second, right_rest))) =
            (left.split_first(), right.split_first())
        {
            self.next(0)?;
            if compare(first, second).is_le() {
                merged.push(*first);
                left = left_rest;
            } else {
                merged.push(*second);
                right = right_rest;
            }
        }
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
        Ok(())
    }
}
