//! Tables that were made by machine.

pub mod digest_words;
