//! The server: configuration, listeners, reactors; the one place that assembles everything.
#![forbid(unsafe_code)]

mod certificates;
mod config;
mod connection;
mod data_folder;
mod descriptors;
mod error_log;
mod listen;
mod net;
mod page;
mod port;
mod reactor;
mod rsa_key;
mod scripts;
mod service_manager;
mod shared;
mod start;
mod start_error;
#[cfg(test)]
mod tests;
mod tls;

pub use page::page;
pub use start::run;
