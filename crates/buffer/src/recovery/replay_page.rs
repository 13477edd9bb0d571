//! Applying what the log has of one page. Main function: [`replay_run`].

use std::sync::atomic::Ordering;

use page::PageOperation;
use stdx::ids::{Lsn, PageId};

use super::damage::makes_anew;
use super::replay_batch::{PageChange, PageRun};
use crate::frames::ExclusiveFrame;
use crate::page_transform::zero_page;
use crate::{BufferPool, StorageError};

/// How often a frame is asked for, some seconds each time, before the start is given up.
const FRAME_ATTEMPTS_MAX: u32 = 30;

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replayed {
    /// Changes were applied, or passed over.
    Changed,
    /// The page had them all: it has this LSN.
    HadAll(Lsn),
}

/// How the page stands to the group that is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It was not needed yet, or cannot be had.
    NotHeld,
    /// It gets the group's changes.
    Changing,
    /// It has the group already.
    Done,
    /// A change did not fit it. Without the stamp it shows as one that lacks the group.
    Failed,
}

/// A page that gets its changes. It stays latched until it has them all, so it is never written, or found after the next crash, with
/// half of a group.
struct PageReplay<'pool> {
    pool: &'pool BufferPool,
    page: PageId,
    /// A lower bound of what is applied to it.
    since: Lsn,
    frame: Option<ExclusiveFrame<'pool>>,
    /// The end of the group that is looked at.
    group_end: Lsn,
    state: State,
}

/// Applies the changes that a batch has of a page.
pub(crate) fn replay_run(pool: &BufferPool, run: PageRun<'_>) -> Result<Replayed, StorageError> {
    if !pool.has_file_for(run.page, run.end) {
        return Ok(Replayed::Changed);
    }
    let mut page = PageReplay {
        pool,
        page: run.page,
        since: run.since(),
        frame: None,
        group_end: Lsn(0),
        state: State::NotHeld,
    };
    for change in run.changes() {
        page.change(change)?;
        // Most pages were written after their last change: nothing more is to be looked at.
        if page.state == State::Done
            && let Some(lsn) = page.lsn().filter(|lsn| *lsn >= run.end)
        {
            return Ok(Replayed::HadAll(lsn));
        }
    }
    page.stamp();
    Ok(Replayed::Changed)
}

impl<'pool> PageReplay<'pool> {
    fn lsn(&self) -> Option<Lsn> {
        self.frame.as_ref().map(|frame| page::lsn(frame))
    }

    fn change(&mut self, change: PageChange<'_>) -> Result<(), StorageError> {
        if change.end != self.group_end {
            self.stamp();
            self.group_end = change.end;
            self.state = State::NotHeld;
        }
        if matches!(self.state, State::Done | State::Failed) {
            return Ok(());
        }
        let decode =
            |bytes| PageOperation::decode(bytes).map_err(|error| StorageError::corrupt(self.page, error));
        let operation = change.operation.map(decode).transpose()?;
        if self.state == State::NotHeld {
            match &operation {
                None => self.hold_to_create()?,
                Some(operation) if makes_anew(operation) => self.hold_to_create()?,
                Some(_) => self.hold_to_change()?,
            }
        }
        if self.state == State::Changing
            && let Some(frame) = &mut self.frame
        {
            let applied = match operation {
                None => {
                    zero_page(frame, self.page, Lsn(0));
                    Ok(())
                }
                Some(operation) => operation.apply(frame),
            };
            if let Err(error) = applied {
                self.state = State::Failed;
                self.pool.damage.pass_over(self.page, self.group_end, error.reason);
            }
        }
        Ok(())
    }

    /// Holds the page that starts anew, unless it cannot be had.
    fn hold_to_create(&mut self) -> Result<(), StorageError> {
        if self.frame.is_none() {
            match self.frame_to_create() {
                Ok(frame) => self.frame = Some(frame),
                Err(error) => return self.pass_over(error),
            }
        }
        self.pool.damage.forget(self.page);
        self.begin_group();
        Ok(())
    }

    /// What is on disk need not make sense before a page's first write.
    fn frame_to_create(&self) -> Result<ExclusiveFrame<'pool>, StorageError> {
        match self.exclusive() {
            Err(StorageError::Corrupt { .. }) => {
                let mut frame = self.pool.exclusive_without_reading(self.page)?;
                zero_page(&mut frame, self.page, Lsn(0));
                Ok(frame)
            }
            outcome => outcome,
        }
    }

    /// Lanes wait for one another's pages to be written, on a slow disk for long.
    fn exclusive(&self) -> Result<ExclusiveFrame<'pool>, StorageError> {
        for _ in 1..FRAME_ATTEMPTS_MAX {
            match self.pool.exclusive(self.page) {
                Err(StorageError::PoolExhausted) => {}
                outcome => return outcome,
            }
        }
        self.pool.exclusive(self.page)
    }

    /// Holds the page with its changes so far, unless it cannot be brought up to date.
    fn hold_to_change(&mut self) -> Result<(), StorageError> {
        if self.pool.damage.is_passed_over(self.page) {
            self.pool.damage.pass_over(self.page, self.group_end, "");
            return Ok(());
        }
        if self.frame.is_none() {
            match self.exclusive() {
                Ok(frame) => self.frame = Some(frame),
                Err(error) => return self.pass_over(error),
            }
        }
        self.begin_group();
        Ok(())
    }

    fn begin_group(&mut self) {
        let Some(frame) = &self.frame else { return };
        if page::lsn(frame) >= self.group_end {
            self.state = State::Done;
            return;
        }
        self.state = State::Changing;
        let marked = std::iter::once((frame.index(), frame.header()));
        self.pool.dirty.mark(&self.pool.frames, marked, || self.since);
    }

    fn pass_over(&self, error: StorageError) -> Result<(), StorageError> {
        let reason = match error.damage() {
            Some(reason) => reason,
            None if self.pool.may_pass_over(&error) => "it cannot be read",
            None => return Err(error),
        };
        self.pool.damage.pass_over(self.page, self.group_end, reason);
        Ok(())
    }

    /// Ends a group whose changes the page has now.
    fn stamp(&mut self) {
        if self.state == State::Changing
            && let Some(frame) = &mut self.frame
        {
            page::set_lsn(frame, self.group_end);
            frame.header().page_lsn.store(self.group_end.0, Ordering::Release);
        }
    }
}
