//! Ordered index of byte keys over pages.
