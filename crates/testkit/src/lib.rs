//! What tests that run SQL without sockets have in common: [`World`] is a server on a simulated disk, [`Client`] a session of it,
//! [`Answer`] what a statement answers.
#![forbid(unsafe_code)]

pub mod answers;
pub mod world;

pub use answers::{Answer, Row};
pub use world::{Client, World};
