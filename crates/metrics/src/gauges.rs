//! [`Gauges`]: values that are read when somebody asks, by name.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

type Reader = Box<dyn Fn() -> u64 + Send + Sync>;

/// A set of named values. Owned by an engine or a server; usable from any thread.
#[derive(Default)]
pub struct Gauges {
    readers: RwLock<BTreeMap<String, Reader>>,
}

impl Gauges {
    /// An empty set.
    pub fn new() -> Gauges {
        Gauges::default()
    }

    /// Adds a value, or replaces the one of that name. `read` must not call back into the set.
    pub fn register(&self, name: &str, read: impl Fn() -> u64 + Send + Sync + 'static) {
        let mut readers = self.readers.write().unwrap_or_else(PoisonError::into_inner);
        readers.insert(name.to_string(), Box::new(read));
    }

    /// All names with their present values, sorted by name.
    pub fn values(&self) -> Vec<(String, u64)> {
        let readers = self.readers.read().unwrap_or_else(PoisonError::into_inner);
        readers.iter().map(|(name, read)| (name.clone(), read())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_show_the_present_value() {
        let gauges = Gauges::new();
        let pages = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(1));
        let shown = pages.clone();
        gauges.register("Innodb_page_size", || 16384);
        gauges.register("Innodb_buffer_pool_pages_dirty", move || {
            shown.load(std::sync::atomic::Ordering::Relaxed)
        });
        pages.store(5, std::sync::atomic::Ordering::Relaxed);
        let expected =
            [("Innodb_buffer_pool_pages_dirty".to_string(), 5), ("Innodb_page_size".to_string(), 16384)];
        assert_eq!(gauges.values(), expected);
    }
}
