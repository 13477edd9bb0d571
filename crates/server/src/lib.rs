//! The server: configuration, listeners, reactors; the one place that assembles everything.
#![forbid(unsafe_code)]

mod certificates;
mod config;
mod connection;
mod descriptors;
mod error_log;
mod net;
mod port;
mod reactor;
mod rsa_key;
mod scripts;
mod shared;
mod start;
#[cfg(test)]
mod tests;
mod tls;

pub use start::{StartError, serve};
