//! Hints as MySQL names them in its warnings.

use super::names::name_of;
use crate::ast::{Hint, HintKind, HintValue, SetVariableHint};
use crate::printer::print_name;

fn quoted(name: &str) -> String {
    let mut text = String::new();
    print_name(&mut text, name);
    text
}

impl HintKind {
    /// The hint's name, with `NO_` where it is not on.
    pub fn name(self, on: bool) -> String {
        name_of(self, on)
    }

    /// Whether it is about the order of a block's tables.
    pub fn is_order(self) -> bool {
        use HintKind::{JoinFixedOrder, JoinOrder, JoinPrefix, JoinSuffix};
        matches!(self, JoinFixedOrder | JoinOrder | JoinPrefix | JoinSuffix)
    }

    /// Whether it is about one use of an index.
    pub fn is_of_index_use(self) -> bool {
        matches!(self, HintKind::JoinIndex | HintKind::GroupIndex | HintKind::OrderIndex)
    }

    /// Whether it is about an index as such, and MySQL keeps one hint of a kind for each index.
    fn is_of_each_index(self) -> bool {
        matches!(self, HintKind::Mrr | HintKind::Icp | HintKind::RangeOptimization)
    }
}

impl Hint {
    /// Name and parentheses, e.g. "NO_INDEX(`t`  `a`)".
    pub fn printed(&self) -> String {
        let name = name_of(self.kind, self.on);
        if self.kind == HintKind::QueryBlockName {
            return format!("{name}({})", self.words.first().map(|word| quoted(word)).unwrap_or_default());
        }
        let at = |block: &Option<String>| block.as_ref().map(|block| format!("@{}", quoted(block)));
        let is_order = matches!(self.kind, HintKind::JoinOrder | HintKind::JoinPrefix | HintKind::JoinSuffix);
        let (mut target, mut arguments) = (String::new(), String::new());
        match self.tables.as_slice() {
            [table] if !is_order => {
                target.push_str(&quoted(&table.name));
                target.push_str(&at(&self.block).unwrap_or_default());
            }
            tables => {
                target.push_str(&at(&self.block).unwrap_or_default());
                let shown = |table: &crate::ast::HintedTable| {
                    format!("{}{}", quoted(&table.name), at(&table.block).unwrap_or_default())
                };
                arguments.push_str(&tables.iter().map(shown).collect::<Vec<_>>().join(","));
            }
        }
        if self.kind.is_of_each_index() {
            let words: Vec<String> = self.words.iter().map(|word| format!(" {}", quoted(word))).collect();
            target.push_str(&words.join(","));
        } else if !self.words.is_empty() {
            let strategies = matches!(self.kind, HintKind::Semijoin | HintKind::Subquery);
            let shown = |word: &String| if strategies { word.clone() } else { quoted(word) };
            let words: Vec<String> = self.words.iter().map(shown).collect();
            arguments.push(' ');
            let is_apart = strategies || self.kind == HintKind::SkipScan;
            arguments.push_str(&words.join(if is_apart { ", " } else { "," }));
        }
        format!("{name}({target} {arguments})")
    }
}

impl SetVariableHint {
    /// Name and parentheses, e.g. "SET_VAR(sort_buffer_size=16777216) ".
    pub fn printed(&self) -> String {
        let value = match &self.value {
            HintValue::Integer(number) => number.to_string(),
            HintValue::Decimal(text) => text.clone(),
            HintValue::Text(text) => format!("'{text}'"),
        };
        format!("SET_VAR({}={value}) ", self.name)
    }
}
