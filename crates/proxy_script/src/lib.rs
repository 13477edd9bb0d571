//! MySQL Proxy's scripts: the hooks that they have, the objects that they see, and the form of what passes them.
//! Knows no sockets. Main types: [`ScriptEngine`], [`Script`], [`Connection`], [`AnswerReader`].
#![forbid(unsafe_code)]

mod answer;
mod backend;
mod connection;
mod connection_object;
mod constants;
mod debug_library;
mod endpoint;
mod engine;
mod form;
mod global;
mod host;
mod injected;
mod packets;
mod queries;
mod response;
mod script;
mod script_error;
mod source_file;

pub use answer::{AnswerReader, Progress, Summary};
pub use backend::{Backend, BackendKind, Backends, state};
pub use connection::{Connection, Injection, NoPool, ServerLink, ServerPool, State, Wanted};
pub use endpoint::{Address, Endpoint, version_number};
pub use engine::{
    INSTRUCTIONS_MAX_DEFAULT, LoadFailure, MEMORY_BYTES_MAX_DEFAULT, ScriptEngine, ScriptOptions,
};
pub use form::Form;
pub use host::{Host, Level};
pub use injected::Answer;
pub use response::{Dialect, Reply};
pub use script::{Decision, Script};
