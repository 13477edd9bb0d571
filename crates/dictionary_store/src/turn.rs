//! One change of the dictionary at a time. Main types: [`DdlTurns`], [`DdlTurn`].
//! A turn is for the steps that make files and commit definitions. What takes as long as a table is large (copying
//! rows, filling an index) goes on without it: metadata locks keep others off that table. Thread rules: any thread
//! may wait; a kill ends the wait.

use buffer::ReserveUse;
use engine_error::{EngineError, EngineResult};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use txn::{KillFlag, Wake};

/// Whose turn it is to change the dictionary.
#[derive(Debug, Default)]
pub struct DdlTurns {
    is_taken: Mutex<bool>,
    changed: Condvar,
}

/// The right to change the dictionary; given back when dropped. Meanwhile no wait for a page is given up: a kill is
/// looked for where nothing is half done.
#[derive(Debug)]
pub struct DdlTurn {
    turns: Arc<DdlTurns>,
    _uninterrupted: env::blocking::Uninterrupted,
    /// Definitions change and small files are made on a full disk too: whoever wants room starts with DROP or TRUNCATE.
    _reserve: ReserveUse,
}

impl DdlTurns {
    /// Waits for the turn. Error: Killed.
    pub fn take(self: &Arc<DdlTurns>, kill: &KillFlag) -> EngineResult<DdlTurn> {
        let mut is_taken = self.lock();
        if *is_taken {
            let waker: Weak<dyn Wake> = Arc::downgrade(&(Arc::clone(self) as Arc<dyn Wake>));
            kill.set_sleeper(Some(waker));
            let waits = |is_taken: &mut bool| *is_taken && !kill.is_raised();
            is_taken = env::blocking::region(|| {
                self.changed.wait_while(is_taken, waits).unwrap_or_else(PoisonError::into_inner)
            });
            kill.set_sleeper(None);
            if *is_taken {
                return Err(EngineError::Killed);
            }
        }
        *is_taken = true;
        let turns = Arc::clone(self);
        Ok(DdlTurn { turns, _uninterrupted: env::blocking::uninterrupted(), _reserve: buffer::use_reserve() })
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for DdlTurns {
    fn wake(&self) {
        // Whoever looked before the kill is waiting by now.
        drop(self.lock());
        self.changed.notify_all();
    }
}

impl Drop for DdlTurn {
    fn drop(&mut self) {
        *self.turns.lock() = false;
        // All, because one of them may be on its way out with a kill.
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_waited_for_and_a_kill_ends_the_wait() {
        let turns = Arc::<DdlTurns>::default();
        let held = turns.take(&KillFlag::default()).unwrap();
        let kills = [KillFlag::default(), KillFlag::default()];
        std::thread::scope(|scope| {
            let [killed, served] = kills.each_ref().map(|kill| {
                let turns = &turns;
                scope.spawn(move || turns.take(kill).map(drop))
            });
            kills[0].kill();
            assert_eq!(killed.join().unwrap(), Err(EngineError::Killed));
            drop(held);
            assert_eq!(served.join().unwrap(), Ok(()));
        });
        // Free turns are given to killed statements, too: they find out where they look for kills.
        assert!(turns.take(&kills[0]).is_ok());
    }
}
