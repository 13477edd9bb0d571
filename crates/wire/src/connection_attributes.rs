//! Names and values by which a client describes itself at login. Main type: [`ConnectionAttributes`].

use crate::reader::{Malformed, Reader};
use std::borrow::Cow;

/// Attributes that are kept of one client; the rest is cut off.
const ATTRIBUTES_MAX: usize = 512;

/// Connection attributes as the client sent them: few are ever looked at, so they are taken apart by those who do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionAttributes {
    /// Pairs of length-encoded strings; all of them were read once without fault.
    pairs: Vec<u8>,
}

impl ConnectionAttributes {
    /// Reads what stands at the end of a login, if it is there.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<ConnectionAttributes, Malformed> {
        if reader.is_empty() {
            return Ok(ConnectionAttributes::default());
        }
        let pairs = reader.length_encoded_bytes()?;
        let mut rest = Reader::new(pairs);
        while !rest.is_empty() {
            rest.length_encoded_bytes()?;
            rest.length_encoded_bytes()?;
        }
        Ok(ConnectionAttributes { pairs: pairs.to_vec() })
    }

    /// Names and values in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        let mut rest = Reader::new(&self.pairs);
        let next = move || {
            let (name, value) = (rest.length_encoded_bytes().ok()?, rest.length_encoded_bytes().ok()?);
            Some((String::from_utf8_lossy(name), String::from_utf8_lossy(value)))
        };
        std::iter::from_fn(next).take(ATTRIBUTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_faults_are_found() {
        let attributes = ConnectionAttributes::read(&mut Reader::new(b"\x08\x04_pid\x0242")).unwrap();
        let pairs: Vec<_> = attributes.iter().collect();
        assert_eq!(pairs, [(Cow::from("_pid"), Cow::from("42"))]);
        assert!(
            ConnectionAttributes::read(&mut Reader::new(b"\x05\x04_pid")).is_err(),
            "a name without value"
        );
        assert_eq!(ConnectionAttributes::read(&mut Reader::new(b"")), Ok(ConnectionAttributes::default()));
    }
}
