//! [`FileImage`]: one simulated file as programs see it, as the platter holds it, and the changes in between.

use super::SimulatedRandom;

/// Writes are torn at one of these sizes.
const TEAR_BYTES: [usize; 2] = [512, 4096];

/// A file: present contents, durable contents, and the unsynced changes that lead from one to the other.
#[derive(Clone, Default)]
pub(super) struct FileImage {
    pub current: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Data { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

impl FileImage {
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if end > self.current.len() {
            self.set_len(end);
        }
        self.current[offset..end].copy_from_slice(bytes);
        self.unsynced.push(Change::Data { offset, bytes: bytes.to_vec() });
    }

    pub fn set_len(&mut self, length: usize) {
        self.current.resize(length, 0);
        self.unsynced.push(Change::Length(length));
    }

    pub fn sync(&mut self) {
        for change in std::mem::take(&mut self.unsynced) {
            apply(&mut self.durable, &change);
        }
    }

    /// A sync that failed: some changes reached the platter, the others never will, and none is tried again.
    pub fn fail_sync(&mut self, random: &SimulatedRandom) {
        for change in std::mem::take(&mut self.unsynced) {
            if random.one_in(2) {
                apply(&mut self.durable, &change);
            }
        }
    }

    /// What the platter holds after power was lost. A crash keeps all, none, or any part of the unsynced changes, in
    /// any order, data torn at sector bounds; a length change may be lost while data written beyond it is lost with it.
    pub fn after_crash(&self, random: &SimulatedRandom) -> FileImage {
        let mut contents = self.durable.clone();
        let mut changes: Vec<&Change> = self.unsynced.iter().collect();
        match random.below(4) {
            0 => changes.clear(),
            1 => changes.iter().for_each(|change| apply(&mut contents, change)),
            style => {
                if style == 2 {
                    shuffle(&mut changes, random);
                }
                for change in changes {
                    apply_part(&mut contents, change, random);
                }
            }
        }
        FileImage { current: contents.clone(), durable: contents, unsynced: Vec::new() }
    }

    /// What the platter holds if nothing unsynced reached it.
    pub fn durable_only(&self) -> FileImage {
        FileImage { current: self.durable.clone(), durable: self.durable.clone(), unsynced: Vec::new() }
    }
}

fn apply(contents: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Data { offset, bytes } => put(contents, *offset, bytes),
        Change::Length(length) => contents.resize(*length, 0),
    }
}

/// Writes what lies below the file's end: the length is a change of its own.
fn put(contents: &mut [u8], offset: usize, bytes: &[u8]) {
    if offset < contents.len() {
        let count = bytes.len().min(contents.len() - offset);
        contents[offset..offset + count].copy_from_slice(&bytes[..count]);
    }
}

fn apply_part(contents: &mut Vec<u8>, change: &Change, random: &SimulatedRandom) {
    match change {
        Change::Length(_) if random.one_in(2) => {}
        Change::Length(_) => apply(contents, change),
        Change::Data { offset, bytes } => match random.below(4) {
            0 => {}
            1 => apply(contents, change),
            _ => apply_torn(contents, *offset, bytes, random),
        },
    }
}

fn apply_torn(contents: &mut [u8], offset: usize, bytes: &[u8], random: &SimulatedRandom) {
    let unit = TEAR_BYTES[usize::from(random.one_in(2))];
    let mut position = 0;
    while position < bytes.len() {
        // Tears fall at the device's bounds, not at the write's.
        let next = ((offset + position) / unit + 1) * unit - offset;
        let end = next.min(bytes.len());
        if random.one_in(2) {
            put(contents, offset + position, &bytes[position..end]);
        }
        position = end;
    }
}

fn shuffle<T>(items: &mut [T], random: &SimulatedRandom) {
    for index in (1..items.len()).rev() {
        let other = usize::try_from(random.below(index as u64 + 1)).unwrap_or(0);
        items.swap(index, other);
    }
}
