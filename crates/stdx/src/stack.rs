//! How much of its stack the calling thread uses. Passes that recurse over what a client wrote ask before they go
//! deeper: the depth of one text is bounded by the parser, but common tables lead from one text into the next.
//! Main function: [`bytes_used`]. Thread rules: each thread knows its own start only.

use std::cell::Cell;

thread_local! {
    /// Address of the thread's first frame that is known; 0 before that.
    static START: Cell<usize> = const { Cell::new(0) };
}

/// Remembers where the calling thread's stack begins. For the first function of a thread.
pub fn note_start() {
    START.set(here());
}

/// Bytes of stack between the thread's start and here. Where the start was not noted, the first call counts as such.
pub fn bytes_used() -> usize {
    let here = here();
    if START.get() == 0 {
        START.set(here);
    }
    START.get().saturating_sub(here)
}

#[inline(never)]
fn here() -> usize {
    let marker = 0u8;
    std::ptr::from_ref(std::hint::black_box(&marker)).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used_at(depth: usize) -> usize {
        let filler = std::hint::black_box([0u8; 512]);
        let used = if depth == 0 { bytes_used() } else { used_at(depth - 1) };
        used + usize::from(filler[depth % 512])
    }

    #[test]
    fn deeper_calls_use_more() {
        note_start();
        let (few, many) = (used_at(10), used_at(100));
        assert!(few >= 10 * 512 && many >= few + 90 * 512, "{few} {many}");
    }
}
