//! The names of hints, and what stands in their parentheses.

use crate::ast::HintKind;
use HintKind as K;

/// What stands in the parentheses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// A number of milliseconds.
    ExecutionTime,
    /// A name.
    ResourceGroup,
    /// `name = value`.
    SetVariable,
    /// A name for the block.
    BlockName,
    /// `[@block] [table[@block], ..]`.
    Tables,
    /// `[@block] table[@block] [index, ..]`.
    Indexes,
    /// `[@block] table[@block], ..`.
    Order,
    /// `[@block]`.
    Block,
    /// `[@block] [strategy, ..]`, or just one.
    Strategies {
        /// The words.
        known: &'static [&'static str],
        /// One of them must be there.
        required: bool,
    },
}

const SEMIJOINS: Form = Form::Strategies {
    known: &["DUPSWEEDOUT", "FIRSTMATCH", "LOOSESCAN", "MATERIALIZATION"],
    required: false,
};
const SUBQUERIES: Form = Form::Strategies { known: &["INTOEXISTS", "MATERIALIZATION"], required: true };

/// Name, what stands in its parentheses, what it is about, whether it may stand alone and with `NO_`. The kind of what is no hint
/// for blocks is not looked at.
const NAMES: &[(&str, Form, HintKind, bool, bool)] = &[
    ("MAX_EXECUTION_TIME", Form::ExecutionTime, K::QueryBlockName, true, false),
    ("RESOURCE_GROUP", Form::ResourceGroup, K::QueryBlockName, true, false),
    ("SET_VAR", Form::SetVariable, K::QueryBlockName, true, false),
    ("QB_NAME", Form::BlockName, K::QueryBlockName, true, false),
    ("BKA", Form::Tables, K::Bka, true, true),
    ("BNL", Form::Tables, K::Bnl, true, true),
    ("HASH_JOIN", Form::Tables, K::HashJoin, true, true),
    ("DERIVED_CONDITION_PUSHDOWN", Form::Tables, K::DerivedConditionPushdown, true, true),
    ("MERGE", Form::Tables, K::Merge, true, true),
    ("INDEX", Form::Indexes, K::Index, true, true),
    ("JOIN_INDEX", Form::Indexes, K::JoinIndex, true, true),
    ("GROUP_INDEX", Form::Indexes, K::GroupIndex, true, true),
    ("ORDER_INDEX", Form::Indexes, K::OrderIndex, true, true),
    ("INDEX_MERGE", Form::Indexes, K::IndexMerge, true, true),
    ("MRR", Form::Indexes, K::Mrr, true, true),
    ("ICP", Form::Indexes, K::Icp, false, true),
    ("RANGE_OPTIMIZATION", Form::Indexes, K::RangeOptimization, false, true),
    ("SKIP_SCAN", Form::Indexes, K::SkipScan, true, true),
    ("JOIN_FIXED_ORDER", Form::Block, K::JoinFixedOrder, true, false),
    ("JOIN_ORDER", Form::Order, K::JoinOrder, true, false),
    ("JOIN_PREFIX", Form::Order, K::JoinPrefix, true, false),
    ("JOIN_SUFFIX", Form::Order, K::JoinSuffix, true, false),
    ("SEMIJOIN", SEMIJOINS, K::Semijoin, true, true),
    ("SUBQUERY", SUBQUERIES, K::Subquery, true, false),
];

/// What a word is, and whether it does not begin with `NO_`.
pub(super) fn form_of(word: &str) -> Option<(Form, HintKind, bool)> {
    let found = |name: &str| NAMES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
    if let Some((_, form, kind, alone, _)) = found(word) {
        return alone.then_some((*form, *kind, true));
    }
    let rest = word.get(..3).filter(|start| start.eq_ignore_ascii_case("NO_")).and(word.get(3..))?;
    found(rest).filter(|(.., negated)| *negated).map(|(_, form, kind, ..)| (*form, *kind, false))
}

/// The name of a hint.
pub(super) fn name_of(kind: HintKind, on: bool) -> String {
    let name = NAMES.iter().find(|(.., known, _, _)| *known == kind && kind != K::QueryBlockName);
    let name = name.map_or("QB_NAME", |(name, ..)| name);
    if on { name.to_owned() } else { format!("NO_{name}") }
}
