//! Tests of node operations on plain byte arrays: a model test with a redo copy, and damage that must not panic.

use std::collections::BTreeMap;

use stdx::ids::{IndexId, PageNumber};

use crate::{
    CELL_OVERHEAD_BYTES, CellRun, CellRunBuilder, Fence, NodeRef, PAGE_BYTES, PageOperation, Stamp, verify,
};

/// A small generator (splitmix64), so that a failing seed can be run again.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn bytes(&mut self, length: u64) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8 & 0x3).collect()
    }
}

/// A page and the copy that the encoded operations are replayed on.
struct Pair {
    page: Vec<u8>,
    replayed: Vec<u8>,
}

impl Pair {
    fn new(operation: PageOperation<'_>) -> Self {
        let mut pair = Self { page: vec![0; PAGE_BYTES], replayed: vec![0; PAGE_BYTES] };
        pair.apply(operation);
        pair
    }

    fn apply(&mut self, operation: PageOperation<'_>) {
        operation.apply(&mut self.page).unwrap();
        let mut encoded = Vec::new();
        operation.encode(&mut encoded);
        let decoded = PageOperation::decode(&encoded).unwrap();
        assert_eq!(decoded, operation);
        decoded.apply(&mut self.replayed).unwrap();
        assert!(self.page == self.replayed, "replay differs after {operation:?}");
        verify(&self.page).unwrap();
    }

    fn node(&self) -> NodeRef<'_> {
        NodeRef::new(&self.page).unwrap()
    }
}

fn leaf<'a>(lower: &'a [u8], upper: Fence<'a>, cells: CellRun<'a>) -> PageOperation<'a> {
    PageOperation::InitNode {
        level: 0,
        index: IndexId(7),
        right: PageNumber(0),
        stamp: Stamp::default(),
        lower,
        upper,
        cells,
    }
}

fn check_contents(pair: &Pair, model: &BTreeMap<Vec<u8>, Vec<u8>>) {
    let node = pair.node();
    assert_eq!(node.count(), model.len());
    assert_eq!(usize::from(node.live_rows()), model.len());
    for (slot, (key, value)) in model.iter().enumerate() {
        let mut found = Vec::new();
        node.key_into(slot, &mut found).unwrap();
        assert_eq!(&found, key);
        assert_eq!(node.value(slot).unwrap(), &value[..]);
        let position = node.search(key).unwrap();
        assert!(position.found && usize::from(position.slot) == slot);
    }
}

fn random_step(random: &mut Generator, pair: &mut Pair, model: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    let mut key = b"prefix".to_vec();
    let length = random.below(12);
    key.extend(random.bytes(length));
    let length = if random.below(8) == 0 { random.below(3000) } else { random.below(60) };
    let value = random.bytes(length);
    let position = pair.node().search(&key).unwrap();
    let (slot, prefix) = (position.slot, pair.node().prefix().unwrap().len());
    let writer = random.below(1 << 40);
    let needed = CELL_OVERHEAD_BYTES + key.len() - prefix + value.len();
    if !position.found {
        if needed <= pair.node().free_bytes() {
            let (suffix, value_cell) = (&key[prefix..], &value);
            let stamp = Stamp { writer, live_delta: 1 };
            pair.apply(PageOperation::InsertCell { slot, stamp, suffix, value: value_cell });
            model.insert(key, value);
        }
        return;
    }
    let old = model[&key].len();
    let stamp = Stamp { writer, live_delta: 0 };
    match random.below(3) {
        0 => {
            pair.apply(PageOperation::RemoveCell { slot, stamp: Stamp { writer, live_delta: -1 } });
            model.remove(&key);
        }
        1 if value.len() <= pair.node().free_bytes() + old => {
            pair.apply(PageOperation::ReplaceCell { slot, stamp, value: &value });
            model.insert(key, value);
        }
        _ => {
            let offset = random.below(old as u64 + 1) as usize;
            let bytes = &value[..value.len().min(old - offset)];
            pair.apply(PageOperation::PatchCell { slot, stamp, offset: offset as u16, bytes });
            if let Some(stored) = model.get_mut(&key) {
                stored[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
        }
    }
}

#[test]
fn random_operations_match_a_map_and_replay_to_the_same_bytes() {
    for seed in 0..30 {
        let mut random = Generator(seed);
        let upper = if seed % 2 == 0 { Fence::Infinite } else { Fence::Key(b"prefiy") };
        let mut pair = Pair::new(leaf(b"pref", upper, CellRun::EMPTY));
        let mut model = BTreeMap::new();
        for _ in 0..600 {
            random_step(&mut random, &mut pair, &mut model);
        }
        check_contents(&pair, &model);
    }
}

#[test]
fn reshape_splits_and_merges_with_changing_prefix() {
    let mut random = Generator(1);
    let mut model = BTreeMap::new();
    let mut pair = Pair::new(leaf(b"", Fence::Infinite, CellRun::EMPTY));
    for _ in 0..400 {
        random_step(&mut random, &mut pair, &mut model);
    }
    let middle = pair.node().count() / 2;
    let mut separator = Vec::new();
    pair.node().key_into(middle, &mut separator).unwrap();
    let mut moved = CellRunBuilder::new();
    for slot in middle..pair.node().count() {
        let (suffix, value) = pair.node().cell(slot).unwrap();
        moved.push(suffix, &[], value);
    }
    let moved_rows = moved.count() as i32;
    let stamp = Stamp { writer: 0, live_delta: -moved_rows };
    let upper = Fence::Key(&separator);
    let count = middle as u16;
    let cut = |stamp, lower, upper, cells, keep_to| PageOperation::Reshape {
        keep_from: 0,
        keep_to,
        right: PageNumber(9),
        stamp,
        lower,
        upper,
        cells,
    };
    pair.apply(cut(stamp, b"prefix", upper, CellRun::EMPTY, count));
    assert_eq!(pair.node().prefix().unwrap(), &separator[..pair.node().prefix().unwrap().len()]);
    assert!(pair.node().prefix().unwrap().len() >= 6);
    let kept: BTreeMap<_, _> = model.clone().into_iter().take(middle).collect();
    check_contents(&pair, &kept);
    let stamp = Stamp { writer: 0, live_delta: moved_rows };
    pair.apply(cut(stamp, b"", Fence::Infinite, moved.run(), count));
    check_contents(&pair, &model);
}

#[test]
fn insert_cells_merges_in_key_order() {
    let mut pair = Pair::new(leaf(b"", Fence::Infinite, CellRun::EMPTY));
    let mut model = BTreeMap::new();
    for start in [0, 1, 2] {
        let mut run = CellRunBuilder::new();
        for number in (start..90_u32).step_by(3) {
            let key = number.to_be_bytes();
            run.push(&key[..2], &key[2..], b"value");
            model.insert(key.to_vec(), b"value".to_vec());
        }
        let stamp = Stamp { writer: 4, live_delta: run.count() as i32 };
        pair.apply(PageOperation::InsertCells { stamp, cells: run.run() });
    }
    check_contents(&pair, &model);
    assert_eq!(pair.node().newest_writer(), 4);
}

#[test]
fn damaged_pages_and_operations_are_errors() {
    let mut random = Generator(3);
    let mut pair = Pair::new(leaf(b"pre", Fence::Key(b"prf"), CellRun::EMPTY));
    let mut model = BTreeMap::new();
    for _ in 0..300 {
        random_step(&mut random, &mut pair, &mut model);
    }
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut page = pair.page.clone();
        let at = if random.below(2) == 0 { 20 + random.below(80) } else { random.below(PAGE_BYTES as u64) };
        page[at as usize] ^= 1 << random.below(8);
        refused += u32::from(verify(&page).is_err());
        touch_everything(&page);
        let slot = random.below(40) as u16;
        let stamp = Stamp { writer: 1, live_delta: 1 };
        let value = b"some value";
        for operation in [
            PageOperation::InsertCell { slot, stamp, suffix: b"x", value },
            PageOperation::ReplaceCell { slot, stamp, value },
            PageOperation::RemoveCell { slot, stamp },
            PageOperation::PatchCell { slot, stamp, offset: 3, bytes: b"patch" },
        ] {
            let _ = operation.apply(&mut page.clone());
        }
    }
    assert!(refused > 6_000, "{refused}");
}

fn touch_everything(page: &[u8]) {
    let Ok(node) = NodeRef::new(page) else { return };
    let _ = (node.prefix(), node.lower_fence(), node.upper_fence(), node.search(b"prefix123"));
    for slot in 0..node.count() {
        let _ = (node.cell(slot), node.child(slot), node.compare_key(slot, b"prefix"));
    }
}

#[test]
fn random_bytes_decode_to_errors_or_operations() {
    let mut random = Generator(4);
    for _ in 0..200_000 {
        let mut bytes: Vec<u8> = (0..random.below(24)).map(|_| random.next() as u8).collect();
        if let Some(kind) = bytes.first_mut() {
            *kind %= 16;
        }
        if let Ok(operation) = PageOperation::decode(&bytes) {
            let _ = operation.apply(&mut vec![0; PAGE_BYTES]);
        }
    }
}
