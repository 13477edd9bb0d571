//! What looks at the server and keeps it in order: SHOW, KILL, FLUSH, RESET, maintenance of tables.

pub(crate) mod maintenance;
pub(crate) mod server;
pub(crate) mod show;
pub(crate) mod show_server;
