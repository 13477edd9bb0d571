//! What all sessions of a server share, and what each of them shows to the others. Main types: [`Instance`] (engine, variables,
//! accounts, plans, limits), [`SessionShared`] (one session as others see it), [`SessionUser`] (in whose name it runs).
//! Knows no running statement.
#![forbid(unsafe_code)]

pub mod account_rules;
pub mod collations;
mod commands;
mod connection;
pub mod files;
mod growth;
mod instance;
mod kept_result;
mod latest_deadlock;
mod lock_place;
mod login_attempt;
mod optimizer_switches;
pub mod options;
mod plan_cache;
mod plan_settings;
mod planned;
mod prepared_memory;
mod privileges;
mod read_watch;
mod registry;
mod resource_limits;
mod routines;
mod server_port;
mod session_starts;
mod session_user;
mod shape;
mod statement_settings;
pub mod status_values;
pub mod system_schemas;
mod tables_used;
pub mod time_zones;
mod timer;
mod transaction_mark;
mod user_lock;
mod views;
mod xa_branches;

pub use commands::counter;
pub use connection::{ConnectionControl, ConnectionInfo, TlsDetails};
pub use growth::GrowthWatch;
pub use instance::{Instance, InstanceOptions, OptionSetting, OptionSource};
pub use kept_result::KeptResult;
pub use latest_deadlock::{Deadlock, DeadlockMember};
pub use lock_place::LockPlace;
pub use login_attempt::LoginAttempt;
pub use options::VERSION;
pub use plan_cache::{PlanCache, RecentPlans, Shape};
pub use plan_settings::READ_BY_PLANNING;
pub use planned::{Planned, SourceReads, StatementTraits, table_name};
pub use prepared_memory::{PreparedCharge, PreparedMemory, STATEMENT_SHARE_BYTES};
pub use privileges::GrantCheck;
pub use registry::{Command, Description, Registry, SessionShared, lock_limit, lock_owner};
pub use routines::Routines;
pub use server_port::{RefusedConnection, ServerControl, ServerSettings};
pub use session_starts::{SessionStart, SessionStarts, StartKey};
pub use session_user::SessionUser;
pub use shape::{ShapeIdentity, ShapeKey};
pub use statement_settings::{SettingsSource, StatementSettings, isolation_at};
pub use tables_used::{NamesUsed, TableUse, names_used, names_used_by_query};
pub use timer::{Armed, Timer};
pub use transaction_mark::{OpenTransaction, TransactionMark};
pub use user_lock::UserLocks;
pub use views::view_query;
pub use xa_branches::{BranchOwner, LeftBranch, XaBranches, engine_name};
