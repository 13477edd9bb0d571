//! The value of a system variable and its forms. Main types: [`SystemValue`], [`ValueTable`].

use super::catalogue::{Kind, SystemVariable, VariableId};
use errors::{SqlResult, sql_error};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use values::Value;

/// A system variable's value.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemValue {
    /// NULL.
    Null,
    /// ON or OFF.
    Boolean(bool),
    /// A whole number.
    Integer(i128),
    /// An approximate number.
    Double(f64),
    /// Text.
    Text(Arc<str>),
    /// Position of the member.
    Member(u8),
    /// One bit for each member.
    Bits(u64),
}

impl Hash for SystemValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            SystemValue::Null => {}
            SystemValue::Boolean(on) => on.hash(state),
            SystemValue::Integer(number) => number.hash(state),
            SystemValue::Double(number) => number.to_bits().hash(state),
            SystemValue::Text(text) => text.hash(state),
            SystemValue::Member(member) => member.hash(state),
            SystemValue::Bits(bits) => bits.hash(state),
        }
    }
}

/// What a SET assigns, before it is checked against the variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Assigned {
    /// An expression's value.
    Value(Value),
    /// Text of an option file or the command line: numbers may have a suffix K, M, G, T, P, E.
    Option(String),
}

/// Why a value was changed before it was stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// The value to store.
    pub value: SystemValue,
    /// The number that was asked for, if another one is stored (warning 1292).
    pub truncated: Option<String>,
}

impl SystemValue {
    /// Bytes of the text that it holds; 0 if it is none.
    pub fn text_bytes(&self) -> u64 {
        if let SystemValue::Text(text) = self { text.len() as u64 } else { 0 }
    }

    /// As a number; 0 for anything else.
    pub fn integer(&self) -> i128 {
        match self {
            SystemValue::Integer(number) => *number,
            SystemValue::Boolean(on) => i128::from(*on),
            SystemValue::Member(member) => i128::from(*member),
            SystemValue::Bits(bits) => i128::from(*bits),
            SystemValue::Double(number) => *number as i128,
            SystemValue::Null | SystemValue::Text(_) => 0,
        }
    }

    /// As a number of 64 bits; out of range values are clamped.
    pub fn unsigned(&self) -> u64 {
        self.integer().clamp(0, u64::MAX as i128) as u64
    }

    /// Whether it is ON.
    pub fn is_on(&self) -> bool {
        self.integer() != 0
    }

    /// As SHOW VARIABLES prints it; NULL is the empty string.
    pub fn text(&self, variable: &SystemVariable) -> String {
        match self {
            SystemValue::Null => String::new(),
            SystemValue::Boolean(on) => if *on { "ON" } else { "OFF" }.to_owned(),
            SystemValue::Integer(number) => number.to_string(),
            SystemValue::Double(number) => format!("{number:.6}"),
            SystemValue::Text(text) => text.to_string(),
            SystemValue::Member(member) => {
                variable.members.get(*member as usize).copied().unwrap_or_default().to_owned()
            }
            SystemValue::Bits(bits) if variable.kind == Kind::Flags => flags_text(variable, *bits),
            SystemValue::Bits(bits) => set_text(variable, *bits),
        }
    }

    /// As `SELECT @@name` yields it: numbers as numbers, the rest as text.
    pub fn to_value(&self, variable: &SystemVariable) -> Value {
        match self {
            SystemValue::Null => Value::Null,
            SystemValue::Boolean(on) => Value::Int(i64::from(*on)),
            SystemValue::Integer(number) if *number < 0 => Value::UInt(*number as i64 as u64),
            SystemValue::Integer(number) => Value::UInt(*number as u64),
            SystemValue::Double(number) => Value::Double(*number),
            _ => Value::Bytes(self.text(variable).into_bytes()),
        }
    }

    /// The compiled default.
    pub fn default_of(variable: &SystemVariable) -> SystemValue {
        let Some(text) = variable.default else { return SystemValue::Null };
        match variable.kind {
            Kind::Boolean => SystemValue::Boolean(text == "ON"),
            Kind::Integer => SystemValue::Integer(text.parse().unwrap_or(0)),
            Kind::Double => SystemValue::Double(text.parse().unwrap_or(0.0)),
            Kind::String => SystemValue::Text(text.into()),
            Kind::Enumeration => SystemValue::Member(member(variable, text).unwrap_or(0)),
            Kind::Set => SystemValue::Bits(set_bits(variable, text).unwrap_or(0)),
            Kind::Flags => SystemValue::Bits(flag_bits(variable, text, 0, 0).unwrap_or(0)),
        }
    }
}

/// Checks an assigned value. `current` and `default` serve flags (`a=default`, unnamed flags stay as they are).
/// Errors: 1231, 1232.
pub fn check(
    variable: &SystemVariable,
    assigned: &Assigned,
    current: &SystemValue,
    default: &SystemValue,
) -> SqlResult<Adjusted> {
    match variable.kind {
        Kind::Boolean => boolean(variable, assigned).map(exact),
        Kind::Integer => integer(variable, assigned),
        Kind::Double => double(variable, assigned),
        Kind::String => string(variable, assigned).map(exact),
        Kind::Enumeration => enumeration(variable, assigned).map(exact),
        Kind::Set => set(variable, assigned).map(exact),
        Kind::Flags => flags(variable, assigned, current.unsigned(), default.unsigned()).map(exact),
    }
}

fn exact(value: SystemValue) -> Adjusted {
    Adjusted { value, truncated: None }
}

/// The assigned value as messages show it.
pub fn display(assigned: &Assigned) -> String {
    match assigned {
        Assigned::Option(text) => text.clone(),
        Assigned::Value(value) => values::print::display(value),
    }
}

fn wrong_value(variable: &SystemVariable, shown: impl std::fmt::Display) -> errors::SqlError {
    sql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, shown)
}

/// Error 1232.
pub fn wrong_type(variable: &SystemVariable) -> errors::SqlError {
    sql_error!(ER_WRONG_TYPE_FOR_VAR, variable.name)
}

/// The text of an assignment, if it is one.
fn assigned_text(assigned: &Assigned) -> Option<String> {
    match assigned {
        Assigned::Option(text) => Some(text.clone()),
        Assigned::Value(Value::Bytes(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Assigned::Value(_) => None,
    }
}

/// The number of an assignment, if it is one.
fn assigned_number(assigned: &Assigned) -> Option<i128> {
    match assigned {
        Assigned::Value(Value::Int(number)) => Some(i128::from(*number)),
        Assigned::Value(Value::UInt(number)) => Some(i128::from(*number)),
        Assigned::Option(text) => parse_size(text),
        Assigned::Value(_) => None,
    }
}

/// A whole number with an optional sign and suffix.
fn parse_size(text: &str) -> Option<i128> {
    let text = text.trim();
    let shift = match text.bytes().last()?.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        b'P' => 50,
        b'E' => 60,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits
        .parse::<i64>()
        .map(i128::from)
        .or_else(|_| digits.parse::<u64>().map(i128::from))
        .ok()
        .map(|n| n << shift)
}

fn boolean(variable: &SystemVariable, assigned: &Assigned) -> SqlResult<SystemValue> {
    if let Some(text) = assigned_text(assigned) {
        return match text.to_ascii_uppercase().as_str() {
            "ON" | "TRUE" => Ok(SystemValue::Boolean(true)),
            "OFF" | "FALSE" => Ok(SystemValue::Boolean(false)),
            "1" | "YES" | "" if matches!(assigned, Assigned::Option(_)) => Ok(SystemValue::Boolean(true)),
            "0" | "NO" if matches!(assigned, Assigned::Option(_)) => Ok(SystemValue::Boolean(false)),
            _ => Err(wrong_value(variable, text)),
        };
    }
    match (assigned_number(assigned), assigned) {
        (Some(0), _) => Ok(SystemValue::Boolean(false)),
        (Some(1), _) => Ok(SystemValue::Boolean(true)),
        (Some(number), _) => Err(wrong_value(variable, number)),
        (None, Assigned::Value(Value::Null)) => Err(wrong_value(variable, "NULL")),
        (None, _) => Err(wrong_type(variable)),
    }
}

fn integer(variable: &SystemVariable, assigned: &Assigned) -> SqlResult<Adjusted> {
    let number = match (assigned_number(assigned), assigned) {
        (Some(number), _) => number,
        (None, Assigned::Option(text)) => return Err(wrong_value(variable, text)),
        (None, _) => return Err(wrong_type(variable)),
    };
    let mut stored = number.clamp(variable.minimum, variable.maximum);
    let multiple = i128::from(variable.multiple.max(1));
    stored = (stored - stored.rem_euclid(multiple)).max(variable.minimum);
    let truncated = (stored != number).then(|| number.to_string());
    Ok(Adjusted { value: SystemValue::Integer(stored), truncated })
}

fn double(variable: &SystemVariable, assigned: &Assigned) -> SqlResult<Adjusted> {
    let number = match assigned {
        Assigned::Value(Value::Int(number)) => *number as f64,
        Assigned::Value(Value::UInt(number)) => *number as f64,
        Assigned::Value(Value::Double(number)) => *number,
        Assigned::Value(Value::Float(number)) => f64::from(*number),
        Assigned::Value(value @ Value::Decimal(_)) => {
            values::print::display(value).parse().map_err(|_| wrong_type(variable))?
        }
        Assigned::Option(text) => text.trim().parse().map_err(|_| wrong_value(variable, text))?,
        Assigned::Value(_) => return Err(wrong_type(variable)),
    };
    // A range of 0 to 0 means that the catalogue knows none (timestamp).
    let bounded = variable.maximum > variable.minimum;
    let stored =
        if bounded { number.clamp(variable.minimum as f64, variable.maximum as f64) } else { number };
    let truncated = (stored != number).then(|| number.to_string());
    Ok(Adjusted { value: SystemValue::Double(stored), truncated })
}

fn string(variable: &SystemVariable, assigned: &Assigned) -> SqlResult<SystemValue> {
    match (assigned_text(assigned), assigned) {
        (Some(text), _) => Ok(SystemValue::Text(text.into())),
        (None, Assigned::Value(Value::Null)) if variable.default.is_none() => Ok(SystemValue::Null),
        (None, Assigned::Value(Value::Null)) => Err(wrong_value(variable, "NULL")),
        (None, _) => Err(wrong_type(variable)),
    }
}

fn member(variable: &SystemVariable, text: &str) -> Option<u8> {
    variable.members.iter().position(|member| member.eq_ignore_ascii_case(text)).map(|at| at as u8)
}

fn enumeration(variable: &SystemVariable, assigned: &Assigned) -> SqlResult<SystemValue> {
    let found = match assigned_text(assigned) {
        Some(text) => member(variable, &text)
            .or_else(|| text.parse::<u8>().ok().filter(|_| matches!(assigned, Assigned::Option(_))))
            .filter(|at| (*at as usize) < variable.members.len()),
        None => match (assigned_number(assigned), assigned) {
            (Some(number), _) => {
                u8::try_from(number).ok().filter(|at| (*at as usize) < variable.members.len())
            }
            (None, Assigned::Value(Value::Null)) => None,
            (None, _) => return Err(wrong_type(variable)),
        },
    };
    found.map(SystemValue::Member).ok_or_else(|| wrong_value(variable, display(assigned)))
}

fn set(variable: &SystemVariable, assigned: &Assigned) -> SqlResult<SystemValue> {
    if let Some(text) = assigned_text(assigned) {
        return set_bits(variable, &text).map(SystemValue::Bits).map_err(|bad| wrong_value(variable, bad));
    }
    match (assigned_number(assigned), assigned) {
        (Some(number), _) if number >= 0 && number < 1i128 << variable.members.len() => {
            Ok(SystemValue::Bits(number as u64))
        }
        (Some(number), _) => Err(wrong_value(variable, number)),
        (None, Assigned::Value(Value::Null)) => Err(wrong_value(variable, "NULL")),
        (None, _) => Err(wrong_type(variable)),
    }
}

/// Bits of a list of members; the unknown one on failure.
fn set_bits(variable: &SystemVariable, text: &str) -> Result<u64, String> {
    let mut bits = 0;
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match member(variable, word) {
            Some(at) if !word.to_ascii_uppercase().starts_with("NOT_USED") => bits |= 1 << at,
            _ => return Err(word.to_owned()),
        }
    }
    Ok(bits)
}

fn set_text(variable: &SystemVariable, bits: u64) -> String {
    let named: Vec<&str> = variable
        .members
        .iter()
        .enumerate()
        .filter(|(at, _)| bits >> at & 1 == 1)
        .map(|(_, name)| *name)
        .collect();
    named.join(",")
}

fn flags(
    variable: &SystemVariable,
    assigned: &Assigned,
    current: u64,
    default: u64,
) -> SqlResult<SystemValue> {
    match (assigned_text(assigned), assigned) {
        (Some(text), _) => flag_bits(variable, &text, current, default)
            .map(SystemValue::Bits)
            .map_err(|bad| wrong_value(variable, bad)),
        (None, Assigned::Value(Value::Null)) => Err(wrong_value(variable, "NULL")),
        (None, _) => match assigned_number(assigned) {
            Some(number) => Err(wrong_value(variable, number)),
            None => Err(wrong_type(variable)),
        },
    }
}

/// Bits after `name=on,name=off,name=default,default` was applied to `current`.
fn flag_bits(variable: &SystemVariable, text: &str, current: u64, default: u64) -> Result<u64, String> {
    let mut bits = current;
    for clause in text.split(',').map(str::trim).filter(|clause| !clause.is_empty()) {
        if clause.eq_ignore_ascii_case("default") {
            bits = default;
            continue;
        }
        let (name, state) = clause.split_once('=').ok_or_else(|| clause.to_owned())?;
        let at = member(variable, name.trim()).ok_or_else(|| clause.to_owned())?;
        let on = match state.trim().to_ascii_lowercase().as_str() {
            "on" => true,
            "off" => false,
            "default" => default >> at & 1 == 1,
            _ => return Err(clause.to_owned()),
        };
        bits = bits & !(1 << at) | u64::from(on) << at;
    }
    Ok(bits)
}

fn flags_text(variable: &SystemVariable, bits: u64) -> String {
    let states: Vec<String> = variable
        .members
        .iter()
        .enumerate()
        .map(|(at, name)| format!("{name}={}", if bits >> at & 1 == 1 { "on" } else { "off" }))
        .collect();
    states.join(",")
}

/// The values of all variables, by [`VariableId`].
#[derive(Clone, Debug)]
pub struct ValueTable {
    values: Vec<SystemValue>,
    /// Differs between tables of the process whose values may differ.
    generation: u64,
}

static GENERATIONS: AtomicU64 = AtomicU64::new(1);

impl ValueTable {
    /// The compiled defaults.
    pub fn defaults() -> ValueTable {
        ValueTable {
            values: VariableId::all().map(|id| SystemValue::default_of(id.variable())).collect(),
            generation: 0,
        }
    }

    /// A number that tables with other values do not have.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// One value.
    pub fn get(&self, id: VariableId) -> &SystemValue {
        &self.values[id.0 as usize]
    }

    /// Changes one value.
    pub fn set(&mut self, id: VariableId, value: SystemValue) {
        self.values[id.0 as usize] = value;
        self.generation = GENERATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::id;
    use super::*;

    fn set_to(id: VariableId, value: Value) -> SqlResult<Adjusted> {
        let default = SystemValue::default_of(id.variable());
        check(id.variable(), &Assigned::Value(value), &default, &default)
    }

    fn text(value: &str) -> Value {
        Value::Bytes(value.as_bytes().to_vec())
    }

    #[test]
    fn every_default_prints_as_the_data_file_says() {
        for id in VariableId::all() {
            let variable = id.variable();
            let printed = SystemValue::default_of(variable).text(variable);
            let expected = variable.default.unwrap_or_default();
            assert!(printed == expected || variable.kind == Kind::Double, "{}: {printed}", variable.name);
        }
    }

    #[test]
    fn wrong_values_and_types() {
        assert_eq!(set_to(id::AUTOCOMMIT, text("maybe")).unwrap_err().number(), 1231);
        assert_eq!(set_to(id::AUTOCOMMIT, Value::Int(2)).unwrap_err().number(), 1231);
        assert_eq!(set_to(id::MAX_CONNECTIONS, text("5")).unwrap_err().number(), 1232);
        assert_eq!(set_to(id::TRANSACTION_ISOLATION, text("none")).unwrap_err().number(), 1231);
        assert_eq!(set_to(id::SQL_MODE, text("ANSI_QUOTES,NOPE")).unwrap_err().number(), 1231);
    }

    #[test]
    fn numbers_are_clamped_and_rounded() {
        let adjusted = set_to(id::MAX_ALLOWED_PACKET, Value::Int(2000)).unwrap();
        assert_eq!(adjusted.value, SystemValue::Integer(1024));
        assert_eq!(adjusted.truncated.as_deref(), Some("2000"));
    }

    #[test]
    fn flags_change_only_what_they_name() {
        let value = set_to(id::OPTIMIZER_SWITCH, text("mrr=off")).unwrap().value;
        let printed = value.text(id::OPTIMIZER_SWITCH.variable());
        assert!(printed.contains("mrr=off,") && printed.starts_with("index_merge=on,"), "{printed}");
    }

    #[test]
    fn option_sizes_have_suffixes() {
        assert_eq!(parse_size("16M"), Some(16 << 20));
        assert_eq!(parse_size("-1"), Some(-1));
        assert_eq!(parse_size("x"), None);
    }
}
