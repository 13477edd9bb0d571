//! EXISTS over rows that only equalities tie to the row around, as IN: `EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND ..)` asks whether `a.k`
//! is among the values of `b.k`, which may then be found first. Main function: [`membership`].

use crate::ties::{Ties, ties_of};
use expression::Expression;
use optimizer::{LogicalSelect, OpenSelect, SelectItem, shown_column};
use plan::OuterKey;

/// A query for values, among which those of the row around are to be.
pub struct Membership {
    /// The query: what is compared with each value.
    pub open: OpenSelect,
    /// The values, in the order of its columns.
    pub keys: Vec<OuterKey>,
}

/// The values that a subquery asks for a row of, if the row around says no more than what some of its columns are equal to.
pub fn membership(open: &OpenSelect) -> Option<Membership> {
    let (block, select) = (&open.block, &open.select);
    if !select.semijoins.is_empty() {
        return None;
    }
    let Ties { columns, keys, conditions } = ties_of(block, select)?;
    let item = |column: Expression| {
        let (table, place) = block.place(&column)?;
        let name = block.tables[table].columns[place].name.clone();
        Some(SelectItem { name, expression: column })
    };
    let items = columns.into_iter().map(item).collect::<Option<Vec<_>>>()?;
    let mut block = block.clone();
    block.outer.clear();
    let select = LogicalSelect {
        tree: select.tree.clone(),
        conditions,
        shown: items.iter().map(|item| shown_column(&block, &item.name, &item.expression)).collect(),
        items,
        select_type: select.select_type,
        ..LogicalSelect::default()
    };
    Some(Membership { open: OpenSelect { block, select, last_block: open.last_block }, keys })
}
