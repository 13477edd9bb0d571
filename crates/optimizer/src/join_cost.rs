//! What joining one more member costs, and by which method. Main types: [`JoinedRows`], [`Choice`].

use super::access::Candidate;
use super::join_order::{Facts, Wanted};
use super::look_ups::LookUp;
use crate::cost::{FIRST_MATCH_NS, HashSides, JOINED_ROW_NS};
use expression::operators::ComparisonMode;

/// The rows that come out of the members that are placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinedRows {
    pub count: f64,
    /// What is done before the first of them comes.
    pub start_ns: f64,
    /// What is done for all of them.
    pub rows_ns: f64,
    /// The slot whose values ascend or descend.
    pub order: Option<usize>,
}

impl Default for JoinedRows {
    /// The one row that the first member is joined to.
    fn default() -> Self {
        JoinedRows { count: 1.0, start_ns: 0.0, rows_ns: 0.0, order: None }
    }
}

impl JoinedRows {
    /// What a share of them costs.
    pub fn ns(&self, share: f64) -> f64 {
        self.start_ns + share * self.rows_ns
    }
}

/// How a member is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Read by the scan of that number, as the first one or to be looked up among the kept rows before.
    Scan(usize),
    /// Read by the scan of that number and kept to be hashed.
    Kept(usize),
    /// Looked up by the candidate of that number.
    LookUp(usize),
    /// Read by the scan of that number for each row before it.
    Loop(usize),
    /// As `Scan`, `Kept` and `Loop`: it has no index.
    Whole,
    KeptWhole,
    LoopWhole,
    /// A nest, joined anew for each row before it, up to the first match.
    FirstMatch,
}

/// A way to join one more member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub rows: JoinedRows,
    pub method: Method,
}

/// The best of the ways that were offered.
struct Offers {
    share: f64,
    best: Option<Choice>,
}

impl Offers {
    fn add(&mut self, rows: JoinedRows, method: Method) {
        if self.best.is_none_or(|known| rows.ns(self.share) < known.rows.ns(self.share)) {
            self.best = Some(Choice { rows, method });
        }
    }
}

/// What a member is joined to, and what comes of it by any method.
#[derive(Clone, Copy)]
struct Joining {
    placed: u64,
    before: JoinedRows,
    wanted: Wanted,
    /// Rows of the member for one of those before.
    matches: f64,
    /// Rows behind the join.
    count: f64,
}

impl Joining {
    /// Whether the member is the first of the join.
    fn is_first(&self) -> bool {
        self.placed == self.wanted.around
    }

    /// The rows behind the join, if something that takes so long is done for each of those before it.
    fn repeated(&self, ns: f64) -> JoinedRows {
        let Joining { before, count, .. } = *self;
        let rows_ns = before.rows_ns + before.count * ns + count * JOINED_ROW_NS;
        JoinedRows { count, rows_ns, ..before }
    }
}

/// What a hash join takes beside the reading of its sides.
#[derive(Clone, Copy)]
struct Hashing {
    build_ns: f64,
    probe_ns: f64,
}

impl Hashing {
    fn of(sides: HashSides) -> Hashing {
        Hashing { build_ns: sides.build_ns(), probe_ns: sides.probe_ns() }
    }
}

/// The hash joins of a member, however it is read.
#[derive(Clone, Copy)]
struct HashJoins {
    /// The member is kept.
    kept: Hashing,
    /// The rows before it are, if they may be, and that many of its own are looked up among them.
    probing: Option<(Hashing, f64)>,
}

/// Reading a member whole, or a range of it, once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    ns: f64,
    order: Option<usize>,
    /// The methods by which its rows are looked up among those before, and the other way round.
    probing: Method,
    kept: Method,
    /// The method by which it is read again for each row before.
    looped: Method,
}

impl Scan {
    /// By the candidate of that number.
    pub fn by_index(at: usize, candidate: &Candidate, order: Option<usize>) -> Scan {
        let (probing, kept, looped) = (Method::Scan(at), Method::Kept(at), Method::Loop(at));
        Scan { ns: candidate.cost_ns(), order, probing, kept, looped }
    }

    /// Of what has no index.
    pub fn of_rows(ns: f64) -> Scan {
        let (probing, kept, looped) = (Method::Whole, Method::KeptWhole, Method::LoopWhole);
        Scan { ns, order: None, probing, kept, looped }
    }
}

impl Facts<'_> {
    /// The best way to join the member to the tables that are placed. Ways to look it up by these have been found.
    pub fn choice(&self, placed: u64, before: JoinedRows, wanted: Wanted) -> Choice {
        let matches = self.matches(placed);
        let count = self.rows_after(before.count, matches);
        let joining = Joining { placed, before, wanted, matches, count };
        let mut offers = Offers { share: wanted.share, best: None };
        for (at, look_up) in self.look_ups(placed).enumerate() {
            offers.add(self.looked_up(look_up, joining), Method::LookUp(at));
        }
        if let Some(ns) = self.first_match_ns {
            offers.add(joining.repeated(FIRST_MATCH_NS + ns), Method::FirstMatch);
        }
        let hash_joins = (!joining.is_first() && !self.is_looped).then(|| self.hash_joins(joining));
        self.readings.iter().for_each(|scan| self.offer_scan(&mut offers, scan, joining, hash_joins));
        let nothing = Choice { rows: JoinedRows { count, ..before }, method: Method::Whole };
        offers.best.unwrap_or(nothing)
    }

    fn looked_up(&self, look_up: &LookUp, joining: Joining) -> JoinedRows {
        let Joining { before, wanted, count, .. } = joining;
        let in_order = before.order.is_some() && look_up.slot == before.order;
        let work_ns = look_up.candidate.work.ns(before.count * wanted.share, in_order) / wanted.share;
        let found = before.count * look_up.candidate.rows;
        let rows_ns = before.rows_ns + work_ns + found * self.kept_row_ns + count * JOINED_ROW_NS;
        JoinedRows { count, rows_ns, ..before }
    }

    fn hash_joins(&self, joining: Joining) -> HashJoins {
        let Joining { placed, before, wanted, matches, .. } = joining;
        let own = self.rows.own;
        let keys = self.usable(placed).filter(|link| link.is_equality);
        let (mut key_count, mut text, mut integer) = (0, false, false);
        for link in keys {
            key_count += 1;
            text |= matches!(link.mode, Some(ComparisonMode::Text(_)));
            integer = link.mode == Some(ComparisonMode::Integer);
        }
        let pairs = before.count * matches;
        let (has_key, has_text) = (key_count > 0, text);
        let sides = |build: f64, probe: f64| HashSides { build, probe, matched: pairs, has_key, has_text };
        let kept = Hashing::of(sides(own, before.count));
        // The rows before would all have come before the first of its rows is read.
        if self.member.joined_by.is_some() || wanted.in_order {
            return HashJoins { kept, probing: None };
        }
        // Rows whose one integer is not among the kept ones are left out as soon as they are met.
        let narrows = key_count == 1 && integer;
        let read = if narrows { f64::min(own, pairs) } else { own };
        HashJoins { kept, probing: Some((Hashing::of(sides(before.count, read)), read)) }
    }

    /// Offers the first read of a join, a loop, or hash joins.
    fn offer_scan(&self, offers: &mut Offers, scan: &Scan, joining: Joining, hash_joins: Option<HashJoins>) {
        let Joining { before, count, wanted, .. } = joining;
        let own = self.rows.own;
        if joining.is_first() {
            let rows_ns = before.rows_ns + scan.ns + own * self.kept_row_ns;
            offers.add(JoinedRows { count, rows_ns, order: scan.order, ..before }, scan.probing);
            return;
        }
        let Some(HashJoins { kept, probing }) = hash_joins else {
            let rows_ns = before.rows_ns + before.count * (scan.ns + own * self.kept_row_ns);
            offers.add(JoinedRows { count, rows_ns, ..before }, scan.looped);
            return;
        };
        // A table that gives the match soon need not be kept for it.
        if wanted.around != 0 && matches!(scan.looped, Method::Loop(_)) {
            offers.add(joining.repeated(scan.ns + own * self.kept_row_ns), scan.looped);
        }
        let joined_ns = count * JOINED_ROW_NS;
        let start_ns = before.start_ns + scan.ns + own * self.kept_row_ns + kept.build_ns;
        let rows_ns = before.rows_ns + kept.probe_ns + joined_ns;
        offers.add(JoinedRows { count, start_ns, rows_ns, order: before.order }, scan.kept);
        if let Some((hash, read)) = probing {
            let start_ns = before.start_ns + before.rows_ns + hash.build_ns;
            let rows_ns = scan.ns + read * self.kept_row_ns + hash.probe_ns + joined_ns;
            offers.add(JoinedRows { count, start_ns, rows_ns, order: scan.order }, scan.probing);
        }
    }
}
