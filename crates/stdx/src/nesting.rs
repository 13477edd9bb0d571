//! Guards that change how their thread goes on for as long as they live, and that nest. Main type: [`Nested`].

use std::cell::Cell;
use std::marker::PhantomData;
use std::thread::LocalKey;

/// A thread's own number of guards that live: above 0, it is within.
pub type Depth = LocalKey<Cell<u32>>;

/// One guard. It stays on its thread.
#[derive(Debug)]
pub struct Nested {
    depth: &'static Depth,
    of_thread: PhantomData<*const ()>,
}

impl Nested {
    /// From here on until it is dropped, the thread is within.
    pub fn enter(depth: &'static Depth) -> Nested {
        depth.set(depth.get() + 1);
        Nested { depth, of_thread: PhantomData }
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        // While a thread ends, its depth may be gone before its last guard.
        let _ = self.depth.try_with(|depth| depth.set(depth.get() - 1));
    }
}

#[cfg(test)]
mod tests {
    // Nothing below has threads of its own to ask for.
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn it_ends_with_the_outermost_guard() {
        thread_local! {
            static DEPTH: Cell<u32> = const { Cell::new(0) };
        }
        let outer = Nested::enter(&DEPTH);
        drop(Nested::enter(&DEPTH));
        assert_eq!(DEPTH.get(), 1);
        std::thread::spawn(|| assert_eq!(DEPTH.get(), 0)).join().expect("the other thread is not within");
        drop(outer);
        assert_eq!(DEPTH.get(), 0);
    }
}
