//! What the table is built of, as loom has it when its models run.

#[cfg(not(loom))]
pub(super) use native::*;
#[cfg(loom)]
pub(super) use of_loom::*;

#[cfg(not(loom))]
mod native {
    pub(in super::super) use std::sync::atomic::{AtomicU64, Ordering};
    pub(in super::super) use std::sync::{Mutex, RwLock};
    pub(in super::super) use stdx::sync::{lock, read, write};
}

#[cfg(loom)]
mod of_loom {
    pub(in super::super) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(in super::super) use loom::sync::{Mutex, RwLock};
    use loom::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};
    use std::sync::PoisonError;

    pub(in super::super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in super::super) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
        lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in super::super) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
        lock.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stands for the append section of the log.
#[cfg(test)]
#[derive(Debug, Default)]
pub(super) struct Section(Mutex<()>);

#[cfg(test)]
impl super::EndOrder for Section {
    fn act(&self, act: &mut dyn FnMut()) {
        let _section = lock(&self.0);
        act();
    }
}
