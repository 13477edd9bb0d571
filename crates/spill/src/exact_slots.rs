//! Exact numbers that go through a temporary table of MySQL's: its column keeps the decimals that it is declared with, where a
//! number that is computed with may have more (AVG) or fewer (IF). Main type: [`ExactSlots`].

use expression::{ResultType, TypeClass};
use values::{Rows, ValueRef};

/// The slots of exact numbers in rows, with the decimals of their columns.
pub struct ExactSlots(Vec<(usize, u8)>);

impl ExactSlots {
    /// Those among slots of these types.
    pub fn of<'c>(columns: impl Iterator<Item = (usize, &'c ResultType)>) -> ExactSlots {
        let exact = columns.filter(|(_, result)| result.class() == TypeClass::Decimal);
        ExactSlots(exact.map(|(slot, result)| (slot, result.scale())).collect())
    }

    /// Gives the numbers in the last row the decimals of their columns.
    #[inline]
    pub fn keep_decimals(&self, rows: &mut Rows) {
        for (slot, scale) in &self.0 {
            if let ValueRef::Decimal(number) = rows.value(rows.len() - 1, *slot)
                && number.scale() != *scale
            {
                let kept = number.shown_with(*scale);
                rows.set(*slot, ValueRef::Decimal(&kept));
            }
        }
    }
}
