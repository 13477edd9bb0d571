//! The keys that an owner has lock objects on. Main type: [`HeldKeys`].
//! Adding and removing cost the same however many there are: a lock object remembers its place here.

use super::LockKey;
use stdx::ids::IndexId;

/// Where a lock object's key stands in its owner's [`HeldKeys`], and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldPlace {
    slot: u32,
    /// Rises with every key: what came behind a mark has a number that is not below it.
    pub(super) sequence: u64,
}

/// Keys in slots. A freed slot is used again.
#[derive(Debug, Default)]
pub(super) struct HeldKeys {
    slots: Vec<Option<LockKey>>,
    free: Vec<u32>,
    next_sequence: u64,
}

impl HeldKeys {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = IndexId> {
        self.slots.iter().flatten().map(|key| key.index)
    }

    pub(super) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    pub(super) fn add(&mut self, key: LockKey) -> HeldPlace {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).expect("2^32 lock objects do not fit in memory")
        });
        self.slots[slot as usize] = Some(key);
        let place = HeldPlace { slot, sequence: self.next_sequence };
        self.next_sequence += 1;
        place
    }

    /// Forgets a key. Nothing happens after [`HeldKeys::take_all`].
    pub(super) fn remove(&mut self, place: HeldPlace) {
        if let Some(slot) = self.slots.get_mut(place.slot as usize)
            && slot.take().is_some()
        {
            self.free.push(place.slot);
        }
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = LockKey> + use<> {
        self.free = Vec::new();
        std::mem::take(&mut self.slots).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again_and_sequences_are_not() {
        let key = |name: &[u8]| LockKey { index: IndexId(1), key: name.into() };
        let mut held = HeldKeys::default();
        let (a, b) = (held.add(key(b"a")), held.add(key(b"b")));
        held.remove(a);
        assert_eq!((held.len(), held.next_sequence()), (1, 2));
        let c = held.add(key(b"c"));
        assert_eq!((c.slot, c.sequence), (a.slot, 2));
        assert_eq!(b.sequence, 1);
        let all: Vec<_> = held.take_all().map(|key| key.key.to_vec()).collect();
        assert_eq!(all, [b"c", b"b"]);
        held.remove(b);
        assert_eq!(held.len(), 0);
    }
}
