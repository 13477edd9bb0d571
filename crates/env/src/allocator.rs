//! Memory that the allocator keeps although nobody uses it. Entry point: [`return_free`].

/// Gives back to the operating system what was freed. The C library's allocator keeps it, for each thread of a crowd that was
/// busy at once; it takes locks and time (milliseconds), so this is for moments of rest. Other C libraries need no telling.
pub fn return_free() {
    #[cfg(target_env = "gnu")]
    {
        // Whether there was anything does not matter.
        let _ = malloc_trim(0);
    }
}

#[cfg(target_env = "gnu")]
// SAFETY: The declaration is that of malloc.h: `int malloc_trim(size_t pad)`. It may be called by any thread at any time.
unsafe extern "C" {
    safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
}
