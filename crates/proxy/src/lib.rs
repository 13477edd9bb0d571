//! `iruka proxy`: between MySQL's clients and servers, with MySQL Proxy's command line and scripts.
//! Entry: [`run`]. README.md says how a session goes; the scripts are the crate `proxy_script`'s.
#![forbid(unsafe_code)]

mod address;
mod admin;
mod commands;
mod connect;
mod event_thread;
mod frames;
mod greeting;
pub mod harness;
mod log;
mod login;
mod option_file;
mod options;
mod pool;
mod process;
mod program;
mod registry;
mod session;
mod shared;
mod side;
mod supervisor;

pub use options::page;
pub use program::run;
