//! Texts: what is put together (`build`), cut out (`cut`), searched (`search`), written in codes (`code`), weighed (`weight`).
//! Positions and lengths count characters of a character set; texts are bytes of it.

pub mod build;
pub mod code;
pub mod cut;
pub mod search;
mod weight;

pub use weight::{integer_weight, moment_weight};
