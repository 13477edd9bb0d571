//! The forms that answers to commands have. Main type: [`Form`].

/// The forms that answers to commands have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No answer: COM_STMT_CLOSE, COM_STMT_SEND_LONG_DATA, COM_QUIT.
    None,
    /// One packet.
    Single,
    /// Results until one says that it is the last: COM_QUERY, COM_STMT_EXECUTE, COM_PROCESS_INFO.
    Results,
    /// Counts, then definitions of parameters and of columns.
    Prepared,
    /// Packets until EOF or ERR: COM_FIELD_LIST, COM_STMT_FETCH, COM_BINLOG_DUMP.
    UntilEnd,
    /// An exchange that ends with OK or ERR: COM_CHANGE_USER, and the login.
    Login,
}

impl Form {
    /// The form of the answer to a command, by its first byte.
    pub fn of(command: u8) -> Form {
        match command {
            0x01 | 0x18 | 0x19 => Form::None,
            0x03 | 0x0A | 0x17 => Form::Results,
            0x04 | 0x12 | 0x1C | 0x1E => Form::UntilEnd,
            0x11 => Form::Login,
            0x16 => Form::Prepared,
            _ => Form::Single,
        }
    }
}
