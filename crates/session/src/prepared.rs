//! Prepared statements as the binary protocol sees them.
//! Main types: [`PreparedDescription`] (answer to COM_STMT_PREPARE), [`BoundParameters`] (input of COM_STMT_EXECUTE).

use wire::result::ResultColumn;

/// The answer to COM_STMT_PREPARE.
#[derive(Clone, Debug)]
pub struct PreparedDescription {
    /// Statement id for later commands.
    pub statement_id: u32,
    /// One column per `?`.
    pub parameters: Vec<ResultColumn>,
    /// Result columns; empty for statements without a result set.
    pub columns: Vec<ResultColumn>,
    /// Number of warnings.
    pub warnings: u16,
}

pub use wire::parameter::ParameterType;

/// What the server needs to decode COM_STMT_EXECUTE of a statement.
#[derive(Clone, Debug, Default)]
pub struct BoundParameters {
    /// Number of `?`.
    pub count: usize,
    /// Types of the last execution that sent types; empty before the first.
    pub types: Vec<ParameterType>,
    /// Values sent by COM_STMT_SEND_LONG_DATA since the last execution or reset, by position.
    /// Such a parameter has no value in the COM_STMT_EXECUTE packet.
    pub long_data: Vec<Option<Vec<u8>>>,
}

/// Flags of COM_STMT_EXECUTE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecuteFlags {
    /// CURSOR_TYPE_READ_ONLY: keep the rows for COM_STMT_FETCH.
    pub read_only_cursor: bool,
}
