//! Commands from the client. Main type: [`Command`]; reading borrows from the packet.

use crate::capabilities::client;
use crate::parameter::{Attribute, KnownParameters, PARAMETERS_MAX, ParameterList, ParameterType, read_list};
use crate::reader::{Malformed, Reader};
use values::Value;

/// A client's command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command<'a> {
    /// COM_QUIT: the client goes; no answer.
    Quit,
    /// COM_INIT_DB.
    InitDb(&'a [u8]),
    /// COM_QUERY.
    Query {
        /// Text of one or more statements.
        sql: &'a [u8],
        /// Query attributes.
        attributes: Vec<Attribute>,
    },
    /// COM_FIELD_LIST.
    FieldList {
        /// Table of the default schema.
        table: &'a [u8],
        /// LIKE pattern; empty for all columns.
        pattern: &'a [u8],
    },
    /// COM_STATISTICS.
    Statistics,
    /// COM_PROCESS_INFO: as SHOW PROCESSLIST.
    ProcessInfo,
    /// COM_PROCESS_KILL.
    ProcessKill(u32),
    /// COM_DEBUG.
    Debug,
    /// COM_PING.
    Ping,
    /// COM_CHANGE_USER; see [`crate::handshake::parse_change_user`].
    ChangeUser(&'a [u8]),
    /// COM_RESET_CONNECTION.
    ResetConnection,
    /// COM_SET_OPTION.
    SetOption {
        /// Multi-statements on (0) or off (1).
        multi_statements: bool,
    },
    /// COM_STMT_PREPARE.
    Prepare(&'a [u8]),
    /// COM_STMT_EXECUTE; the parameters are read by [`Execute::parameters`] once the statement is known.
    Execute(Execute<'a>),
    /// COM_STMT_SEND_LONG_DATA: no answer.
    SendLongData {
        /// Statement.
        statement_id: u32,
        /// Parameter, from 0.
        parameter: u16,
        /// A piece of its value.
        piece: &'a [u8],
    },
    /// COM_STMT_CLOSE: no answer.
    CloseStatement(u32),
    /// COM_STMT_RESET.
    ResetStatement(u32),
    /// COM_STMT_FETCH.
    Fetch {
        /// Statement.
        statement_id: u32,
        /// Most rows to send.
        rows_max: u32,
    },
    /// A number that is no command, or one that this server does not have: error 1047.
    Unknown(u8),
}

/// COM_STMT_EXECUTE without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execute<'a> {
    /// Statement.
    pub statement_id: u32,
    /// CURSOR_TYPE_READ_ONLY: keep the rows for COM_STMT_FETCH.
    pub read_only_cursor: bool,
    /// The connection knows query attributes: parameters are counted, have names, and attributes may follow.
    named: bool,
    /// The parameters are counted even if the statement has none.
    counted: bool,
    rest: &'a [u8],
}

/// The parameters of COM_STMT_EXECUTE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecuteParameters {
    /// One a `?`.
    pub types: Vec<ParameterType>,
    /// One a `?`; NULL where long data was sent.
    pub values: Vec<Value>,
    /// Query attributes.
    pub attributes: Vec<Attribute>,
}

const CURSOR_TYPE_READ_ONLY: u8 = 1;
const PARAMETER_COUNT_AVAILABLE: u8 = 8;

impl<'a> Command<'a> {
    /// Reads a packet's payload. `capabilities` are the connection's.
    pub fn parse(payload: &'a [u8], capabilities: u32) -> Result<Command<'a>, Malformed> {
        let mut reader = Reader::new(payload);
        // An empty packet counts as the command 0, which nobody may give.
        let number = if payload.is_empty() { 0 } else { reader.u8()? };
        let command = match number {
            0x01 => Command::Quit,
            0x02 => Command::InitDb(reader.take_rest()),
            0x03 => return query(&mut reader, capabilities),
            0x04 => {
                Command::FieldList { table: reader.null_terminated_or_rest(), pattern: reader.take_rest() }
            }
            0x09 => Command::Statistics,
            0x0A => Command::ProcessInfo,
            0x0C => Command::ProcessKill(reader.u32()?),
            0x0D => Command::Debug,
            0x0E => Command::Ping,
            0x11 => Command::ChangeUser(reader.take_rest()),
            0x16 => Command::Prepare(reader.take_rest()),
            0x17 => Command::Execute(execute(&mut reader, capabilities)?),
            0x18 => Command::SendLongData {
                statement_id: reader.u32()?,
                parameter: reader.u16()?,
                piece: reader.take_rest(),
            },
            0x19 => Command::CloseStatement(reader.u32()?),
            0x1A => Command::ResetStatement(reader.u32()?),
            0x1B => match reader.u16()? {
                0 => Command::SetOption { multi_statements: true },
                1 => Command::SetOption { multi_statements: false },
                _ => return Err(Malformed),
            },
            0x1C => Command::Fetch { statement_id: reader.u32()?, rows_max: reader.u32()? },
            0x1F => Command::ResetConnection,
            number => Command::Unknown(number),
        };
        Ok(command)
    }
}

fn query<'a>(reader: &mut Reader<'a>, capabilities: u32) -> Result<Command<'a>, Malformed> {
    let mut attributes = Vec::new();
    if capabilities & client::QUERY_ATTRIBUTES != 0 {
        let count = parameter_count(reader)?;
        // The number of parameter sets; there is never more than one.
        reader.length_encoded_integer()?;
        let list = read_list(reader, count, true, &KnownParameters::default())?;
        attributes = named(list);
    }
    Ok(Command::Query { sql: reader.take_rest(), attributes })
}

fn parameter_count(reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let count = usize::try_from(reader.length_encoded_integer()?).map_err(|_| Malformed)?;
    if count <= PARAMETERS_MAX { Ok(count) } else { Err(Malformed) }
}

fn named(list: ParameterList) -> Vec<Attribute> {
    let pairs = list.names.into_iter().zip(list.values);
    pairs.map(|(name, value)| Attribute { name, value }).collect()
}

fn execute<'a>(reader: &mut Reader<'a>, capabilities: u32) -> Result<Execute<'a>, Malformed> {
    let statement_id = reader.u32()?;
    let flags = reader.u8()?;
    // The iteration count is always 1.
    reader.u32()?;
    let named = capabilities & client::QUERY_ATTRIBUTES != 0;
    Ok(Execute {
        statement_id,
        read_only_cursor: flags & CURSOR_TYPE_READ_ONLY != 0,
        named,
        counted: flags & PARAMETER_COUNT_AVAILABLE != 0,
        rest: reader.take_rest(),
    })
}

impl Execute<'_> {
    /// Reads the parameters of a statement of which that is known.
    pub fn parameters(&self, known: &KnownParameters<'_>) -> Result<ExecuteParameters, Malformed> {
        let mut reader = Reader::new(self.rest);
        let mut count = known.count;
        if self.named && (self.counted || known.count > 0) {
            count = parameter_count(&mut reader)?;
            if count < known.count {
                return Err(Malformed);
            }
        }
        let mut list = read_list(&mut reader, count, self.named, known)?;
        let attribute_values = list.values.split_off(known.count);
        let names = list.names.into_iter().skip(known.count);
        list.types.truncate(known.count);
        let attributes = names.zip(attribute_values).map(|(name, value)| Attribute { name, value }).collect();
        Ok(ExecuteParameters { types: list.types, values: list.values, attributes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::type_code::code;

    #[test]
    fn simple_commands() {
        let check = |bytes: &[u8], expected| assert_eq!(Command::parse(bytes, 0), expected);
        check(b"\x01", Ok(Command::Quit));
        check(b"\x03SELECT 1", Ok(Command::Query { sql: b"SELECT 1", attributes: Vec::new() }));
        check(b"\x04t\0a%", Ok(Command::FieldList { table: b"t", pattern: b"a%" }));
        check(b"\x1c\x05\0\0\0\x02\0\0\0", Ok(Command::Fetch { statement_id: 5, rows_max: 2 }));
        check(b"\x1b\x01\0", Ok(Command::SetOption { multi_statements: false }));
        check(b"\x1b\x07\0", Err(Malformed));
        check(b"\x77", Ok(Command::Unknown(0x77)));
        check(b"", Ok(Command::Unknown(0)));
        check(b"\x17\x01\0", Err(Malformed));
    }

    #[test]
    fn query_attributes() {
        let packet = b"\x03\x01\x01\x00\x01\xfe\x00\x03abc\x02xySELECT 1";
        let attribute = Attribute { name: b"abc".to_vec(), value: Value::Bytes(b"xy".to_vec()) };
        let expected = Command::Query { sql: b"SELECT 1", attributes: vec![attribute] };
        assert_eq!(Command::parse(packet, client::QUERY_ATTRIBUTES), Ok(expected));
        let too_many = b"\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(Command::parse(too_many, client::QUERY_ATTRIBUTES), Err(Malformed));
    }

    #[test]
    fn execute_with_and_without_types() {
        let packet = b"\x17\x09\0\0\0\x00\x01\0\0\0\x02\x01\x08\x00\x06\x00\x07\0\0\0\0\0\0\0";
        let Ok(Command::Execute(execute)) = Command::parse(packet, 0) else { panic!() };
        assert_eq!(execute.statement_id, 9);
        let known = KnownParameters { count: 2, ..KnownParameters::default() };
        let parameters = execute.parameters(&known).unwrap();
        assert_eq!(parameters.values, [Value::Int(7), Value::Null]);

        let again = b"\x17\x09\0\0\0\x00\x01\0\0\0\x02\x00\x08\0\0\0\0\0\0\0";
        let Ok(Command::Execute(execute)) = Command::parse(again, 0) else { panic!() };
        assert_eq!(execute.parameters(&known), Err(Malformed));
        let known = KnownParameters { types: &parameters.types, ..known };
        assert_eq!(execute.parameters(&known).unwrap().values, [Value::Int(8), Value::Null]);
    }

    #[test]
    fn long_data_has_no_value_in_the_packet() {
        let packet = b"\x17\x01\0\0\0\x00\x01\0\0\0\x00\x01\xfc\x00\xfe\x00\x01z";
        let Ok(Command::Execute(execute)) = Command::parse(packet, 0) else { panic!() };
        let known = KnownParameters { count: 2, types: &[], sent: &[true, false] };
        let parameters = execute.parameters(&known).unwrap();
        assert_eq!(parameters.values, [Value::Null, Value::Bytes(b"z".to_vec())]);
        assert_eq!(parameters.types[0], ParameterType { code: code::BLOB, unsigned: false });
    }

    #[test]
    fn execute_of_clients_that_know_attributes_but_send_none() {
        let packet = b"\x17\x01\0\0\0\x00\x01\0\0\0\x01\x00\x01\x01\x80\x00\x05";
        let Ok(Command::Execute(execute)) = Command::parse(packet, client::QUERY_ATTRIBUTES) else {
            panic!()
        };
        let known = KnownParameters { count: 1, ..KnownParameters::default() };
        assert_eq!(execute.parameters(&known).unwrap().values, [Value::UInt(5)]);
        let none = b"\x17\x01\0\0\0\x00\x01\0\0\0";
        let Ok(Command::Execute(execute)) = Command::parse(none, client::QUERY_ATTRIBUTES) else { panic!() };
        assert_eq!(execute.parameters(&KnownParameters::default()), Ok(ExecuteParameters::default()));
    }

    #[test]
    fn execute_with_attributes_behind_its_parameters() {
        let packet = b"\x17\x01\0\0\0\x08\x01\0\0\0\x02\x00\x01\x01\x00\x00\xfe\x00\x01k\x05\x01v";
        let Ok(Command::Execute(execute)) = Command::parse(packet, client::QUERY_ATTRIBUTES) else {
            panic!()
        };
        let known = KnownParameters { count: 1, ..KnownParameters::default() };
        let parameters = execute.parameters(&known).unwrap();
        assert_eq!(parameters.values, [Value::Int(5)]);
        let attribute = Attribute { name: b"k".to_vec(), value: Value::Bytes(b"v".to_vec()) };
        assert_eq!(parameters.attributes, [attribute]);
    }
}
