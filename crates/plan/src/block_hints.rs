//! What optimizer hints say of one block of a statement. Main type: [`BlockHints`].

use dictionary::TableDefinition;
use parser::ast::{Hint, HintKind, IndexHint, IndexHintKind, IndexHintScope};

/// The hints of a block.
#[derive(Clone, Debug, Default)]
pub struct BlockHints {
    /// QB_NAME, else `select#N`.
    pub name: String,
    hints: Vec<Hint>,
}

/// The table that a hint is about.
fn about(hint: &Hint) -> Option<&str> {
    hint.tables.first().map(|table| table.name.as_str())
}

/// Whether a hint of a block cannot stand beside one that came before.
fn conflict(known: &Hint, hint: &Hint) -> bool {
    use HintKind::{
        Icp, Index, JoinFixedOrder, JoinOrder, Mrr, RangeOptimization, Semijoin, SkipScan, Subquery,
    };
    let shares = |word: &String| known.words.iter().any(|known| known.eq_ignore_ascii_case(word));
    match (known.kind, hint.kind) {
        (Semijoin | Subquery, Semijoin | Subquery) => true,
        (JoinFixedOrder, kind) | (kind, JoinFixedOrder) => kind.is_order(),
        (JoinOrder, JoinOrder) => false,
        // Hints for one use of an index and for all of them.
        (one, other) if one != other => {
            (one == Index && other.is_of_index_use() || other == Index && one.is_of_index_use())
                && about(known) == about(hint)
                && (hint.words.is_empty() || hint.words.iter().any(shares))
        }
        (kind, _) if kind.is_order() || kind == HintKind::QueryBlockName => true,
        _ if known.tables.is_empty() || hint.tables.is_empty() => true,
        _ if about(known) != about(hint) => false,
        // What was said of single indexes stands beside what is said of the table.
        (Mrr | Icp | RangeOptimization, _) if hint.words.is_empty() => known.words.is_empty(),
        (Mrr | Icp | RangeOptimization | SkipScan, _) => {
            known.words.is_empty() || hint.words.is_empty() || hint.words.iter().any(shares)
        }
        _ => true,
    }
}

impl BlockHints {
    /// The hints of a block of that name, without any as yet.
    pub fn of_block(name: String) -> BlockHints {
        BlockHints { name, hints: Vec::new() }
    }

    /// Adds a hint; false if it cannot stand beside one that came before.
    pub fn add(&mut self, hint: &Hint) -> bool {
        let stands = !self.hints.iter().any(|known| conflict(known, hint));
        if stands {
            self.hints.push(hint.clone());
        }
        stands
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.hints.is_empty()
    }

    /// The hints in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Hint> {
        self.hints.iter()
    }

    /// Whether a hint says yes or no to what is done with a table of the block.
    pub fn of_table(&self, kind: HintKind, alias: &str) -> Option<bool> {
        let is_meant =
            |hint: &&Hint| hint.kind == kind && hint.tables.iter().all(|table| table.name == alias);
        self.hints.iter().find(is_meant).map(|hint| hint.on)
    }

    /// Whether entries of several indexes of a table are not put together.
    pub fn refuses_union(&self, alias: &str) -> bool {
        self.of_table(HintKind::IndexMerge, alias) == Some(false)
    }

    /// Whether no join buffer, which a hash join is, is made for a table: it is read again for each row of those before it. The hints
    /// HASH_JOIN and NO_HASH_JOIN say nothing since MySQL 8.0.20.
    pub fn refuses_join_buffer(&self, alias: &str) -> bool {
        self.of_table(HintKind::Bnl, alias) == Some(false)
    }

    /// Whether the block, if it is a subquery, stays one.
    pub fn keeps_subquery(&self) -> bool {
        self.hints.iter().any(|hint| match hint.kind {
            // Strategies that it names are not those that are used here.
            HintKind::Semijoin => !hint.on && hint.words.is_empty(),
            HintKind::Subquery => true,
            _ => false,
        })
    }

    /// Whether the tables come in the order of FROM.
    pub fn fixes_order(&self) -> bool {
        self.hints.iter().any(|hint| hint.kind == HintKind::JoinFixedOrder)
    }

    /// USE, FORCE and IGNORE INDEX that say the same as the hints for indexes of a table; None if there is no such hint.
    pub fn index_hints(&self, definition: &TableDefinition, alias: &str) -> Option<Vec<IndexHint>> {
        let all = || definition.indexes.iter().map(|index| index.name.clone()).collect::<Vec<_>>();
        let same = |hint: &Hint| {
            let scope = match hint.kind {
                HintKind::Index => None,
                HintKind::JoinIndex => Some(IndexHintScope::Join),
                HintKind::GroupIndex => Some(IndexHintScope::GroupBy),
                HintKind::OrderIndex => Some(IndexHintScope::OrderBy),
                _ => return None,
            };
            let table = hint.tables.first()?;
            if table.name != alias {
                return None;
            }
            let is_there = |word: &&String| all().iter().any(|name| name.eq_ignore_ascii_case(word));
            let mut indexes: Vec<String> = hint.words.iter().filter(is_there).cloned().collect();
            if hint.words.is_empty() {
                indexes = all();
            } else if indexes.is_empty() {
                return None;
            }
            let kind = if hint.on { IndexHintKind::Force } else { IndexHintKind::Ignore };
            Some(IndexHint { kind, scope, indexes })
        };
        let hints: Vec<IndexHint> = self.hints.iter().filter_map(same).collect();
        (!hints.is_empty()).then_some(hints)
    }

    /// For each of the block's tables, by their aliases, those that must come before it by JOIN_ORDER, JOIN_PREFIX and JOIN_SUFFIX, as bits. Tables that
    /// are not in `among` are left out.
    pub fn order_needs(&self, aliases: &[&str], among: u64) -> Vec<u64> {
        let mut needs = vec![0; aliases.len()];
        for hint in self.hints.iter().filter(|hint| hint.kind.is_order()) {
            let number = |name: &str| aliases.iter().position(|alias| *alias == name);
            let named = hint.tables.iter().filter_map(|table| number(&table.name));
            let listed: Vec<usize> = named.filter(|number| among >> number & 1 == 1).collect();
            let bits = listed.iter().fold(0, |bits, number| bits | 1 << number);
            let others = among & !bits;
            let mut before = if hint.kind == HintKind::JoinSuffix { others } else { 0 };
            for number in &listed {
                needs[*number] |= before;
                before |= 1 << number;
            }
            if hint.kind == HintKind::JoinPrefix {
                let rest = (0..aliases.len()).filter(|number| others >> number & 1 == 1);
                rest.for_each(|number| needs[number] |= bits);
            }
        }
        needs
    }
}
