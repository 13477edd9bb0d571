//! Conditions on their way from binding to the choice of joins: what they come out as, and what of alternatives holds in each.

mod condition;
mod factor;

pub use condition::{Settler, Settling};
pub use factor::{factor_alternatives, factor_joins};
