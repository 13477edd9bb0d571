//! Sorting that can be stopped: [`sort_unless`]. A kill must be heard within some tens of milliseconds, and the standard
//! library's sorts cannot be left once they began.

use std::cmp::Ordering;

/// Items that are sorted by one call: some tens of milliseconds.
const SORTED_AT_ONCE_MAX: usize = 1 << 18;

/// Sorts by a total order; equal items come in any order. False, with the items in any order, if `is_stopped` said so
/// meanwhile: it is asked before each part of the work. Many items are divided at their median until the parts sort quickly.
pub fn sort_unless<T>(
    items: &mut [T],
    order: impl Fn(&T, &T) -> Ordering,
    is_stopped: impl Fn() -> bool,
) -> bool {
    if items.len() > SORTED_AT_ONCE_MAX && items.is_sorted_by(|one, other| order(one, other).is_le()) {
        return !is_stopped();
    }
    let mut parts = vec![items];
    while let Some(part) = parts.pop() {
        if is_stopped() {
            return false;
        }
        if part.len() <= SORTED_AT_ONCE_MAX {
            part.sort_unstable_by(&order);
            continue;
        }
        let (before, _, behind) = part.select_nth_unstable_by(part.len() / 2, &order);
        parts.push(behind);
        parts.push(before);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn scattered() -> Vec<u64> {
        (0..3 * SORTED_AT_ONCE_MAX as u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8).collect()
    }

    #[test]
    fn many_items_are_sorted_in_parts() {
        for count in [0, 1, 1000, 3 * SORTED_AT_ONCE_MAX] {
            let mut items = scattered();
            items.truncate(count);
            let mut expected = items.clone();
            expected.sort_unstable();
            assert!(sort_unless(&mut items, u64::cmp, || false));
            assert!(items == expected);
            assert!(sort_unless(&mut items, u64::cmp, || false) && items == expected, "sorted already");
        }
    }

    #[test]
    fn nothing_is_done_after_a_stop() {
        let asked = Cell::new(0);
        assert!(!sort_unless(&mut scattered(), u64::cmp, || asked.replace(asked.get() + 1) == 3));
        assert_eq!(asked.get(), 4);
    }
}
