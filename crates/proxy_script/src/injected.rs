//! `inj` and `inj.resultset`: the answer to an injected query as `read_query_result` sees it. Main type: [`Answer`].

use crate::answer::Summary;
use crate::connection::Injection;
use crate::host::{Host, Level};
use crate::packets::{Definition, Packets};
use crate::script_error::{raised, type_name};
use mlua::{Lua, MetaMethod, Result, UserData, UserDataMethods, Value};
use std::sync::{Arc, Mutex, PoisonError};
use wire::capabilities::{client, status};
use wire::reader::Reader;

/// An injected query with its complete answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked.
    pub injection: Injection,
    /// All frames, if they were held.
    pub bytes: Vec<u8>,
    /// What they say.
    pub summary: Summary,
    /// What client and server agreed on.
    pub capabilities: u32,
    /// Microseconds from the queue to the first packet.
    pub query_time: u64,
    /// Microseconds from the queue to the last packet.
    pub response_time: u64,
}

const COM_QUERY: u8 = 3;
const COM_STMT_EXECUTE: u8 = 23;

pub(crate) struct InjectionObject {
    pub answer: Arc<Answer>,
    pub host: Arc<dyn Host>,
}

struct ResultObject(Arc<Answer>);

struct FieldsObject(Vec<Definition>);

struct FieldObject(Definition);

/// Where a loop over rows is.
struct Cursor {
    answer: Arc<Answer>,
    at: usize,
}

impl UserData for InjectionObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| {
            let answer = &object.answer;
            Ok(match text_of(lua, &name)?.as_str() {
                "id" | "type" => Value::Number(answer.injection.id as f64),
                "query" => Value::String(lua.create_string(&answer.injection.packet)?),
                "query_time" => Value::Number(answer.query_time as f64),
                "response_time" => Value::Number(answer.response_time as f64),
                "resultset" => Value::UserData(lua.create_userdata(ResultObject(Arc::clone(answer)))?),
                other => {
                    object.host.log(Level::Message, &format!("inj[{other}] ... not found"));
                    Value::Nil
                }
            })
        });
    }
}

impl UserData for ResultObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| object.field(lua, &name));
    }
}

impl ResultObject {
    fn field(&self, lua: &Lua, name: &Value) -> Result<Value> {
        let answer = &self.0;
        let summary = &answer.summary;
        let name = text_of(lua, name)?;
        let is_ok = !summary.has_rows;
        let ends_with_ok = !summary.last_has_rows;
        Ok(match name.as_str() {
            "query_status" => {
                summary.query_status.map_or(Value::Nil, |status| Value::Number(f64::from(status)))
            }
            "affected_rows" if ends_with_ok => Value::Number(summary.affected_rows as f64),
            "insert_id" if ends_with_ok => Value::Number(summary.insert_id as f64),
            "warning_count" => Value::Number(f64::from(summary.warning_count)),
            "row_count" => Value::Number(summary.row_count as f64),
            "bytes" => Value::Number(summary.row_bytes as f64),
            "flags" => self.flags(lua)?,
            "raw" | "fields" | "rows" if !answer.injection.resultset_is_needed => {
                let text = format!(".resultset.{name} isn't available if 'resultset_is_needed ~= true'");
                return Err(raised(lua, text));
            }
            "raw" => {
                let first = Packets::from(&answer.bytes, 0).next().unwrap_or_default();
                Value::String(lua.create_string(&first)?)
            }
            "fields" => Value::UserData(lua.create_userdata(FieldsObject(answer.definitions()))?),
            "rows" if is_ok || summary.query_status != Some(0) && summary.row_count == 0 => Value::Nil,
            "rows" if answer.is_binary() => {
                return Err(raised(lua, ".resultset.rows isn't available for prepared statements"));
            }
            "rows" => self.rows(lua)?,
            _ => Value::Nil,
        })
    }

    fn flags(&self, lua: &Lua) -> Result<Value> {
        let answer = &self.0;
        let tells = matches!(answer.injection.packet.first(), Some(&(COM_QUERY | COM_STMT_EXECUTE)));
        let status = if tells { answer.summary.server_status } else { 0 };
        let flags = lua.create_table()?;
        flags.set("in_trans", status & status::IN_TRANS != 0)?;
        flags.set("auto_commit", status & status::AUTOCOMMIT != 0)?;
        flags.set("no_good_index_used", status & status::NO_GOOD_INDEX_USED != 0)?;
        flags.set("no_index_used", status & status::NO_INDEX_USED != 0)?;
        Ok(Value::Table(flags))
    }

    fn rows(&self, lua: &Lua) -> Result<Value> {
        let cursor = Mutex::new(Cursor { answer: Arc::clone(&self.0), at: self.0.rows_start() });
        let next = lua.create_function(move |lua, _: mlua::MultiValue| {
            cursor.lock().unwrap_or_else(PoisonError::into_inner).next_row(lua)
        })?;
        Ok(Value::Function(next))
    }
}

impl Cursor {
    /// The next row as a table, nil behind the last one.
    fn next_row(&mut self, lua: &Lua) -> Result<Value> {
        let mut packets = Packets::from(&self.answer.bytes, self.at);
        let Some(payload) = packets.next() else { return Ok(Value::Nil) };
        match payload.first() {
            None | Some(0xFF) => return Ok(Value::Nil),
            Some(0xFE) if payload.len() < 0xFF_FFFF => return Ok(Value::Nil),
            _ => {}
        }
        let row = lua.create_table()?;
        let mut reader = Reader::new(&payload);
        let mut number = 1;
        while !reader.is_empty() {
            let Ok(cell) = reader.text_cell() else { return Err(raised(lua, "row-data is invalid")) };
            if let Some(text) = cell {
                row.raw_set(number, lua.create_string(text)?)?;
            }
            number += 1;
        }
        self.at = packets.position();
        Ok(Value::Table(row))
    }
}

impl Answer {
    fn is_binary(&self) -> bool {
        self.injection.packet.first() == Some(&COM_STMT_EXECUTE)
    }

    /// The definitions of the first result; none for OK and ERR.
    fn definitions(&self) -> Vec<Definition> {
        if !self.summary.has_rows {
            return Vec::new();
        }
        let mut packets = Packets::from(&self.bytes, 0);
        let count =
            packets.next().map_or(0, |first| Reader::new(&first).length_encoded_integer().unwrap_or(0));
        let definitions = packets.take(usize::try_from(count).unwrap_or(0));
        definitions.map_while(|payload| Definition::parse(&payload).ok()).collect()
    }

    /// Where the rows of the first result begin.
    fn rows_start(&self) -> usize {
        let mut packets = Packets::from(&self.bytes, 0);
        let count =
            packets.next().map_or(0, |first| Reader::new(&first).length_encoded_integer().unwrap_or(0));
        let has_end = self.capabilities & client::DEPRECATE_EOF == 0;
        for _ in 0..count + u64::from(has_end) {
            if packets.next().is_none() {
                break;
            }
        }
        packets.position()
    }
}

impl UserData for FieldsObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Len, |_, object, ()| Ok(object.0.len()));
        methods.add_meta_method(MetaMethod::Index, |lua, object, index: Value| {
            let Some(number) = lua.coerce_number(index.clone())? else {
                let got = type_name(Some(&index));
                return Err(raised(lua, format!("bad argument #2 to '?' (number expected, got {got})")));
            };
            let field = (number as usize).checked_sub(1).and_then(|index| object.0.get(index));
            match field {
                Some(field) => lua.create_userdata(FieldObject(field.clone())).map(Value::UserData),
                None => Ok(Value::Nil),
            }
        });
    }
}

impl UserData for FieldObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, object, name: Value| {
            let field = &object.0;
            let text = match text_of(lua, &name)?.as_str() {
                "type" => return Ok(Value::Number(f64::from(field.type_code))),
                "name" => &field.name,
                "org_name" => &field.original_name,
                "table" => &field.table,
                "org_table" => &field.original_table,
                _ => return Ok(Value::Nil),
            };
            // What has no name, as an expression has no table, has nil.
            if text.is_empty() { Ok(Value::Nil) } else { lua.create_string(text).map(Value::String) }
        });
    }
}

fn text_of(lua: &Lua, value: &Value) -> Result<String> {
    Ok(lua.coerce_string(value.clone())?.map(|text| text.to_string_lossy()).unwrap_or_default())
}
