//! Which rules optimizer_switch and iruka_optimizer_switch leave. Main function: [`rules`].
//!
//! optimizer_switch has MySQL's flags, of which these mean something here; iruka_optimizer_switch has the rules that MySQL cannot switch
//! off, or has not.

use plan::{Rule, Rules};
use variables::{SessionVariables, VariableId, id};

/// MySQL's flags.
const OF_MYSQL: [(&str, Rule); 9] = [
    ("derived_merge", Rule::DerivedMerge),
    ("derived_condition_pushdown", Rule::DerivedConditionPushdown),
    ("semijoin", Rule::Semijoin),
    ("firstmatch", Rule::FirstMatch),
    ("materialization", Rule::Materialization),
    // Since 8.0.20 this is the flag of hash joins.
    ("block_nested_loop", Rule::HashJoin),
    ("index_merge", Rule::IndexMerge),
    ("prefer_ordering_index", Rule::PreferOrderingIndex),
    ("skip_scan", Rule::SkipScan),
];

/// Those of MySQL's flags that take a rule away when they are on.
const OF_MYSQL_AGAINST: [(&str, Rule); 1] = [("subquery_to_derived", Rule::SubqueryRunsFirst)];

/// Flags of its own.
const OWN: [(&str, Rule); 17] = [
    ("idle_groups", Rule::IdleGroups),
    ("early_subqueries", Rule::EarlySubqueries),
    ("grouped_subqueries", Rule::GroupedSubqueries),
    ("or_factoring", Rule::OrFactoring),
    ("equal_columns", Rule::EqualColumns),
    ("outer_to_inner", Rule::OuterToInner),
    ("null_antijoin", Rule::NullAntijoin),
    ("known_conditions", Rule::KnownConditions),
    ("indexed_values", Rule::IndexedValues),
    ("join_order", Rule::JoinOrder),
    ("hash_keys_at_scans", Rule::HashKeysAtScans),
    ("kept_slots", Rule::KeptSlots),
    ("index_ranges", Rule::IndexRanges),
    ("index_order", Rule::IndexOrder),
    ("min_max", Rule::MinMax),
    ("row_count", Rule::RowCount),
    ("fast_execution", Rule::FastExecution),
];

/// The rules that a session's variables leave.
pub fn rules(variables: &SessionVariables) -> Rules {
    let switches = [
        (id::OPTIMIZER_SWITCH, &OF_MYSQL[..], 0),
        (id::OPTIMIZER_SWITCH, &OF_MYSQL_AGAINST[..], 1),
        (id::IRUKA_OPTIMIZER_SWITCH, &OWN[..], 0),
    ];
    let mut rules = Rules::ALL;
    for (variable, flags, without) in switches {
        let bits = variables.get(variable).unsigned();
        for (flag, rule) in flags {
            if bits >> place(variable, flag) & 1 == without {
                rules = rules.without(*rule);
            }
        }
    }
    rules
}

fn place(variable: VariableId, flag: &str) -> usize {
    let mut members = variable.variable().members.iter();
    members.position(|member| *member == flag).unwrap_or_else(|| unreachable!("no flag {flag}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_of_its_own_is_a_rule_and_mysqls_are_there() {
        for (flag, _) in OF_MYSQL.iter().chain(&OF_MYSQL_AGAINST) {
            place(id::OPTIMIZER_SWITCH, flag);
        }
        let own: Vec<&str> = OWN.iter().map(|(flag, _)| *flag).collect();
        assert_eq!(id::IRUKA_OPTIMIZER_SWITCH.variable().members, own);
        let mut all: Vec<u32> =
            OF_MYSQL.iter().chain(&OF_MYSQL_AGAINST).chain(&OWN).map(|(_, rule)| *rule as u32).collect();
        all.sort_unstable();
        assert_eq!(all, (0..=Rule::FastExecution as u32).collect::<Vec<_>>());
    }
}
