//! The flag that KILL raises. Main type: [`KillFlag`], a cheap clone shared by a session and its killers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A flag that ends waits and scans of a session.
#[derive(Clone, Debug, Default)]
pub struct KillFlag(Arc<KillState>);

#[derive(Debug, Default)]
struct KillState {
    raised: AtomicBool,
    /// What to wake when the flag is raised while its owner waits.
    sleeper: Mutex<Option<Weak<dyn Wake>>>,
}

/// Something that waits and can be woken to look at the flag.
pub trait Wake: std::fmt::Debug + Send + Sync {
    /// Wakes it.
    fn wake(&self);
}

impl KillFlag {
    /// Raises the flag and wakes its owner if it waits.
    pub fn kill(&self) {
        self.0.raised.store(true, Ordering::SeqCst);
        let sleeper = self.0.sleeper.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(sleeper) = sleeper.and_then(|weak| weak.upgrade()) {
            sleeper.wake();
        }
    }

    /// Whether the flag is raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::Relaxed)
    }

    /// Lowers the flag: KILL QUERY ends one statement only. The session does this when a statement begins.
    pub fn lower(&self) {
        if self.is_raised() {
            self.0.raised.store(false, Ordering::SeqCst);
        }
    }

    /// Names what a kill must wake; None when the wait is over.
    pub fn set_sleeper(&self, sleeper: Option<Weak<dyn Wake>>) {
        *self.0.sleeper.lock().unwrap_or_else(PoisonError::into_inner) = sleeper;
    }
}
