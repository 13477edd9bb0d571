//! Growing the files of spaces, in steps that suit both the file and the disk. Main type: [`GrowthLimits`]. See rule B11 in README.md.

use std::sync::atomic::{AtomicU32, Ordering};

use env::{DiskErrorKind, DiskResult, File, blocking};
use page::PAGE_BYTES;

const PAGE: u64 = PAGE_BYTES as u64;
/// Files grow by 64 KiB at least and 64 MiB at most.
const GROWTH_PAGES_MIN: u32 = 4;
const GROWTH_PAGES_MAX: u32 = 4096;
/// Below this size a file doubles, above it grows by a quarter.
const DOUBLING_PAGES_MAX: u32 = 64;
/// A step that the disk refused is tried again with this part of it. What is left then serves some steps more, of any table, before the
/// next one is refused: a vain attempt may take as long as writing all that is left (tmpfs).
const REFUSED_PART: u32 = 16;

/// By how much files on one disk grow at most: less once the disk has refused a step, and with each step that it grants more again.
struct GrowthLimit(AtomicU32);

impl Default for GrowthLimit {
    fn default() -> GrowthLimit {
        GrowthLimit(AtomicU32::new(GROWTH_PAGES_MAX))
    }
}

impl GrowthLimit {
    /// Pages that a file of that many is to grow by, `least` at least.
    fn step(&self, pages: u32, least: u32) -> u32 {
        let wanted = if pages < DOUBLING_PAGES_MAX { pages } else { pages / 4 };
        wanted.min(self.0.load(Ordering::Relaxed)).max(least)
    }

    fn refused(&self, step: u32) {
        self.0.store((step / REFUSED_PART).max(GROWTH_PAGES_MIN), Ordering::Relaxed);
    }

    fn granted(&self) {
        let limit = self.0.load(Ordering::Relaxed);
        if limit < GROWTH_PAGES_MAX {
            self.0.store((limit + (limit / 8).max(1)).min(GROWTH_PAGES_MAX), Ordering::Relaxed);
        }
    }
}

/// The limits of the disks where files of spaces are.
#[derive(Default)]
pub(crate) struct GrowthLimits {
    tables: GrowthLimit,
    temporary: GrowthLimit,
}

impl GrowthLimits {
    /// Adds `missing` pages at least to a file that has `pages`; gives the pages that it has then.
    pub fn grow(&self, file: &dyn File, is_temporary: bool, pages: u32, missing: u32) -> DiskResult<u32> {
        grow(file, pages, missing, if is_temporary { &self.temporary } else { &self.tables })
    }
}

fn grow(file: &dyn File, pages: u32, missing: u32, limit: &GrowthLimit) -> DiskResult<u32> {
    let least = missing.max(GROWTH_PAGES_MIN);
    loop {
        let step = limit.step(pages, least);
        let (end, length) = (u64::from(pages) * PAGE, u64::from(step) * PAGE);
        match blocking::region(|| file.allocate(end, length)) {
            Ok(()) => {
                limit.granted();
                return Ok(pages + step);
            }
            Err(error) if error.kind == DiskErrorKind::NoSpace => {
                limit.refused(step);
                // Nobody knows of these blocks yet. A file that stays longer does no harm but for the room.
                let _ = blocking::region(|| file.set_len(end));
                if step == least {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
}
