//! Checks of trees and tablespaces that nobody changes meanwhile.

mod space;
mod tree;

pub use space::{check_space, free_unreachable};
pub use tree::{TreeFault, TreeReport};
