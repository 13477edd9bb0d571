//! The user variables of a session. Main type: [`UserVariables`].

use crate::kept_memory::KeptMemory;
use errors::SqlResult;
use exec::ServerMemory;
use expression::TypedValue;
use std::collections::HashMap;
use std::sync::Arc;
use values::Value;

/// What they are, for messages.
pub(crate) const USER_VARIABLES: &str = "user variables";
/// What a variable takes beside its name and its value.
const VARIABLE_BYTES: usize = 128;

/// User variables by lower-case name.
pub(crate) struct UserVariables {
    by_name: HashMap<String, TypedValue>,
    kept: KeptMemory,
}

fn bytes_of(name: &str, value: &Value) -> usize {
    let long = if let Value::Bytes(bytes) = value { bytes.len() } else { 0 };
    VARIABLE_BYTES + name.len() + long
}

impl UserVariables {
    /// None yet.
    pub fn new(server: Arc<ServerMemory>) -> UserVariables {
        UserVariables { by_name: HashMap::new(), kept: KeptMemory::new(USER_VARIABLES, server) }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.by_name = HashMap::new();
        self.kept.fall_to(0);
    }

    /// The variable of that name.
    pub fn get(&self, name: &str) -> Option<&TypedValue> {
        self.by_name.get(name)
    }

    /// Sets a variable; error 3170 if all are too long together then, or the server has no room for them, and nothing changes.
    pub fn set(&mut self, name: &str, value: TypedValue) -> SqlResult<()> {
        let before = self.by_name.get(name).map_or(0, |old| bytes_of(name, &old.value));
        self.kept.set(self.kept.bytes() - before as u64 + bytes_of(name, &value.value) as u64)?;
        match self.by_name.get_mut(name) {
            Some(place) => *place = value,
            None => drop(self.by_name.insert(name.to_owned(), value)),
        }
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
        assert_eq!(variables.kept.bytes(), (600 << 20) + 3 * (VARIABLE_BYTES as u64 + 1));
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
