//! How many different values the columns of a table have, from a sample of its rows: also of those that no index begins with.
//! Main type: [`ColumnSample`].

use super::RowView;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Values that are remembered, those of all columns together.
const VALUES_MAX: usize = 1 << 20;

/// The values of a sample.
#[derive(Debug, Default)]
pub struct ColumnSample {
    rows: u64,
    /// Per column: hashes of its values, and whether they came more than once.
    values: Vec<HashMap<u64, bool>>,
}

impl ColumnSample {
    /// A sample of a table of so many columns.
    pub fn new(columns: usize) -> ColumnSample {
        ColumnSample { rows: 0, values: vec![HashMap::new(); columns] }
    }

    /// Looks at a row, unless enough values are remembered.
    pub fn add(&mut self, row: &RowView<'_>) {
        if self.rows as usize * self.values.len() >= VALUES_MAX {
            return;
        }
        self.rows += 1;
        for (column, seen) in self.values.iter_mut().enumerate() {
            let mut hasher = DefaultHasher::new();
            let value = row.raw(column);
            hasher.write_u8(u8::from(value.is_some()));
            hasher.write(value.unwrap_or_default());
            seen.entry(hasher.finish()).and_modify(|again| *again = true).or_insert(false);
        }
    }

    /// Different values of each column in a table of so many rows: after Haas and Stokes, by the values that came once. Where none
    /// did, there are no others; where all did, every row has its own. Empty if no row could be looked at.
    pub fn distinct(&self, rows: u64) -> Vec<u64> {
        if self.rows == 0 {
            return Vec::new();
        }
        let (sampled, rows) = (self.rows as f64, (rows as f64).max(self.rows as f64));
        let of_column = |seen: &HashMap<u64, bool>| {
            let once = seen.values().filter(|again| !**again).count() as f64;
            let unseen = (1.0 - sampled / rows.max(1.0)) * once;
            let distinct = sampled * seen.len() as f64 / (sampled - unseen).max(1.0);
            (distinct.round() as u64).max(seen.len() as u64).min(rows as u64)
        };
        self.values.iter().map(of_column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowLayout;
    use crate::{ColumnType, Value};

    #[test]
    fn values_that_came_once_stand_for_others() {
        let int = ColumnType::big_int();
        let layout = RowLayout::new([(&int, true), (&int, true), (&int, true)]);
        let mut sample = ColumnSample::new(3);
        for number in 0..1000 {
            let few = if number % 5 == 0 { Value::Null } else { Value::Int(number % 5) };
            let row = layout.encode(&[Value::Int(number), few, Value::Int(number / 2)]).unwrap();
            sample.add(&RowView::new(&layout, &row).unwrap());
        }
        assert_eq!(sample.distinct(100_000), [100_000, 5, 500]);
        assert_eq!(sample.distinct(1000), [1000, 5, 500]);
    }

    #[test]
    fn values_differ_wherever_their_bytes_do() {
        let text = ColumnType::varbinary(300);
        let layout = RowLayout::new([(&text, true)]);
        let mut sample = ColumnSample::new(1);
        assert!(sample.distinct(10).is_empty(), "nothing is known");
        for number in 0..100 {
            let value = format!("{}{}", "https://".repeat(20), number % 10);
            sample
                .add(&RowView::new(&layout, &layout.encode(&[Value::Bytes(value.into())]).unwrap()).unwrap());
        }
        for value in [Value::Null, Value::Bytes(Vec::new()), Value::Bytes(vec![0])] {
            sample.add(&RowView::new(&layout, &layout.encode(&[value]).unwrap()).unwrap());
        }
        assert_eq!(sample.distinct(103), [13]);
    }
}
