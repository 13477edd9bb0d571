//! [`KeyList`]: ascending keys in few bytes, each as what it adds to the one before it. For undo records of many rows.
//! Each key is: bytes shared with the one before (varint), bytes that follow (varint), these bytes.

use crate::undo::{put_varint, take_bytes, take_varint};

/// Collects keys; its buffers can be used again after `clear`.
#[derive(Debug, Default)]
pub struct KeyList {
    bytes: Vec<u8>,
    last: Vec<u8>,
}

impl KeyList {
    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.last.clear();
    }

    /// Adds a key.
    pub fn push(&mut self, key: &[u8]) {
        let shared = self.last.iter().zip(key).take_while(|(one, other)| one == other).count();
        put_varint(&mut self.bytes, shared as u64);
        put_varint(&mut self.bytes, (key.len() - shared) as u64);
        self.bytes.extend_from_slice(&key[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
    }

    /// The keys in their stored form.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The keys of a stored list; None if the bytes are none.
    pub fn decode(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        while !bytes.is_empty() {
            let shared = usize::try_from(take_varint(&mut bytes)?).ok()?;
            let rest = take_bytes(&mut bytes)?;
            let mut key = keys.last().map_or(Some(&[][..]), |last| last.get(..shared))?.to_vec();
            if keys.is_empty() && shared > 0 {
                return None;
            }
            key.extend_from_slice(rest);
            keys.push(key);
        }
        Some(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_and_damage_is_seen() {
        let keys: Vec<Vec<u8>> =
            [&b"abc"[..], b"abd", b"abda", b"b", b""].iter().map(|key| key.to_vec()).collect();
        let mut list = KeyList::default();
        list.push(b"left over");
        list.clear();
        keys.iter().for_each(|key| list.push(key));
        assert_eq!(KeyList::decode(list.as_bytes()).unwrap(), keys);
        assert_eq!(KeyList::decode(&[]).unwrap().len(), 0);
        assert!(KeyList::decode(&[1, 1, b'a']).is_none(), "the first key shares nothing");
        assert!(KeyList::decode(&[0, 2, b'a']).is_none());
        assert!(KeyList::decode(&[0, 1, b'a', 2, 0]).is_none());
    }
}
