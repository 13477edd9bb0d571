//! The memory of kept conditions: max_error_count may be 65,535, and texts are long. Main types: [`ConditionMemory`] (what all sessions
//! share), [`Charge`] (what one area has taken of it). Little is not charged; what there is no room for is left out, as what is beyond
//! max_error_count.

use crate::Condition;
use std::sync::Arc;

/// What a condition takes beside its text.
const CONDITION_BYTES: u64 = 128;
/// What is taken at once.
const STEP_BYTES: u64 = 1 << 20;
/// What an area may keep without taking anything.
const SMALL_BYTES: u64 = 64 << 10;

/// Memory that many share.
pub trait ConditionMemory: Send + Sync + std::fmt::Debug {
    /// Takes so many bytes, if there are as many.
    fn take(&self, bytes: u64) -> bool;
    /// Gives bytes back.
    fn give_back(&self, bytes: u64);
}

/// What the conditions of one area take; given back when dropped. Without a memory nothing is bounded.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    memory: Option<Arc<dyn ConditionMemory>>,
    kept_bytes: u64,
    taken_bytes: u64,
}

fn bytes_of(condition: &Condition) -> u64 {
    CONDITION_BYTES + condition.error.message().len() as u64
}

impl Charge {
    /// Nothing taken yet.
    pub fn to(memory: Arc<dyn ConditionMemory>) -> Charge {
        Charge { memory: Some(memory), ..Charge::default() }
    }

    /// Whether there is room for one more condition, which is kept then.
    pub fn covers(&mut self, condition: &Condition) -> bool {
        let Some(memory) = &self.memory else { return true };
        let bytes = self.kept_bytes + bytes_of(condition);
        if bytes > SMALL_BYTES.max(self.taken_bytes) {
            let missing = bytes.next_multiple_of(STEP_BYTES) - self.taken_bytes;
            if !memory.take(missing) {
                return false;
            }
            self.taken_bytes += missing;
        }
        self.kept_bytes = bytes;
        true
    }

    /// Those are kept no longer. What was taken stays for others.
    pub fn forget(&mut self, conditions: &[Condition]) {
        if self.memory.is_some() {
            self.kept_bytes -= conditions.iter().map(bytes_of).sum::<u64>().min(self.kept_bytes);
        }
    }

    /// None are kept any more; whether anything had been taken.
    pub fn release(&mut self) -> bool {
        self.kept_bytes = 0;
        let taken = std::mem::take(&mut self.taken_bytes);
        if let Some(memory) = self.memory.as_ref().filter(|_| taken > 0) {
            memory.give_back(taken);
        }
        taken > 0
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostics, sql_error};
    use std::sync::Mutex;

    #[derive(Debug)]
    struct Memory(Mutex<u64>);

    impl ConditionMemory for Memory {
        fn take(&self, bytes: u64) -> bool {
            let mut left = self.0.lock().unwrap();
            let fits = bytes <= *left;
            *left -= if fits { bytes } else { 0 };
            fits
        }

        fn give_back(&self, bytes: u64) {
            *self.0.lock().unwrap() += bytes;
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_counted_and_left_out() {
        let memory = Arc::new(Memory(Mutex::new(STEP_BYTES)));
        let mut diagnostics = Diagnostics::new(65_535).charged_to(memory.clone());
        let mut other = Diagnostics::new(65_535).charged_to(memory.clone());
        let warn = |diagnostics: &mut Diagnostics| {
            for _ in 0..10_000 {
                diagnostics.warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, "INTEGER", "x".repeat(100)));
            }
            assert_eq!(diagnostics.count(), 10_000);
            let kept = diagnostics.conditions();
            assert!(kept.iter().map(bytes_of).sum::<u64>() <= SMALL_BYTES.max(STEP_BYTES));
            kept.len()
        };
        let (most, few) = (warn(&mut diagnostics), warn(&mut other));
        assert!(most > 4 * few && few > 100, "{most}, {few}");
        // What is taken out and put back is kept as before; what is forgotten makes room.
        let mark = Diagnostics::new(1).mark();
        let taken = diagnostics.take_since(mark);
        diagnostics.put_back(taken);
        assert_eq!(diagnostics.conditions().len(), most);
        diagnostics.forget_since(mark);
        assert_eq!(warn(&mut diagnostics), most);
        diagnostics.clear();
        assert_eq!(*memory.0.lock().unwrap(), STEP_BYTES);
        other.clear();
        assert_eq!(warn(&mut other), most);
        drop(other);
        assert_eq!(*memory.0.lock().unwrap(), STEP_BYTES);
    }
}
