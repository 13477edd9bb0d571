//! The user variables of a session. Main type: [`UserVariables`]. MySQL bounds them by the machine's memory; here they may take
//! together what one statement may, out of what the server has for all statements, so that no client takes the server down by keeping
//! what it computes.

use errors::{SqlResult, sql_error};
use exec::{Reservation, ServerMemory};
use expression::TypedValue;
use std::collections::HashMap;
use std::sync::Arc;
use values::Value;

/// Bytes that the variables of one session may take.
const BYTES_MAX: usize = 1 << 30;
/// What a variable takes beside its name and its value.
const VARIABLE_BYTES: usize = 128;

/// User variables by lower-case name.
pub(crate) struct UserVariables {
    by_name: HashMap<String, TypedValue>,
    bytes: usize,
    reserved: Reservation,
}

fn bytes_of(name: &str, value: &Value) -> usize {
    let long = if let Value::Bytes(bytes) = value { bytes.len() } else { 0 };
    VARIABLE_BYTES + name.len() + long
}

impl UserVariables {
    /// None yet.
    pub fn new(server: Arc<ServerMemory>) -> UserVariables {
        UserVariables { by_name: HashMap::new(), bytes: 0, reserved: Reservation::new(server) }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        (self.by_name, self.bytes) = (HashMap::new(), 0);
        self.reserved.release();
    }

    /// The variable of that name.
    pub fn get(&self, name: &str) -> Option<&TypedValue> {
        self.by_name.get(name)
    }

    /// Error 3170 for values that are too long together, whatever variables they are for.
    pub fn check(bytes: usize) -> SqlResult<()> {
        match bytes <= BYTES_MAX {
            true => Ok(()),
            false => Err(sql_error!(ER_CAPACITY_EXCEEDED, BYTES_MAX, "user variables", "")),
        }
    }

    /// Sets a variable; error 3170 if all are too long together then, or the server has no room for them, and nothing changes.
    pub fn set(&mut self, name: &str, value: TypedValue) -> SqlResult<()> {
        let before = self.by_name.get(name).map_or(0, |old| bytes_of(name, &old.value));
        let bytes = self.bytes - before + bytes_of(name, &value.value);
        UserVariables::check(bytes)?;
        if !self.reserved.cover(bytes as u64) {
            let (limit, advice) = (self.reserved.server().bytes_max(), "See global_connection_memory_limit.");
            return Err(sql_error!(ER_CAPACITY_EXCEEDED, limit, "user variables", advice));
        }
        match self.by_name.get_mut(name) {
            Some(place) => *place = value,
            None => drop(self.by_name.insert(name.to_owned(), value)),
        }
        self.bytes = bytes;
        self.reserved.fall_to(bytes as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use values::ColumnType;

    #[test]
    fn all_of_a_session_are_bounded_together() {
        let long = |mebibytes: usize| TypedValue {
            value: Value::Bytes(vec![0; mebibytes << 20]),
            column_type: ColumnType::null(),
        };
        let server = Arc::new(ServerMemory::new(1 << 30));
        let mut variables = UserVariables::new(server.clone());
        variables.set("a", long(600)).unwrap();
        variables.set("b", long(300)).unwrap();
        assert_eq!(variables.set("c", long(200)).unwrap_err().number(), 3170);
        assert!(variables.get("c").is_none());
        // What takes the place of another one counts alone.
        variables.set("a", long(100)).unwrap();
        variables.set("c", long(200)).unwrap();
        assert_eq!(variables.bytes, (600 << 20) + 3 * (VARIABLE_BYTES + 1));
        // What all sessions keep is the server's.
        let mut others = UserVariables::new(server.clone());
        assert_eq!(others.set("a", long(500)).unwrap_err().number(), 3170);
        variables.set("b", long(1)).unwrap();
        others.set("a", long(500)).unwrap();
        variables.clear();
        drop(others);
        assert_eq!(server.reserved_bytes(), 0);
    }
}
