//! Comparisons that the type of a column decides. Main function: [`decided_by_range`].

use super::ComparisonOperator;
use values::{ColumnType, TypeKind, Value};

/// What a comparison of an integer or year column with a number comes out as for all that the column can hold but NULL: a
/// TINYINT is never above 127. None if that depends on the row.
pub fn decided_by_range(operator: ComparisonOperator, column: &ColumnType, number: &Value) -> Option<bool> {
    use ComparisonOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, NullSafeEqual};
    let number = match number {
        Value::Int(number) => i128::from(*number),
        Value::UInt(number) => i128::from(*number),
        _ => return None,
    };
    let (low, high) = match column.kind {
        TypeKind::Year => (0, u64::from(u16::MAX)),
        _ => column.integer_range()?,
    };
    let (low, high) = (i128::from(low), i128::from(high));
    // Whether it lies below or above all values, and whether it is the least or the greatest.
    let (is_below, is_above) = (number < low, number > high);
    let (is_least, is_greatest) = (number == low, number == high);
    let (never, always) = match operator {
        Less => (is_below || is_least, is_above),
        LessOrEqual => (is_below, is_above || is_greatest),
        Greater => (is_above || is_greatest, is_below),
        GreaterOrEqual => (is_above, is_below || is_least),
        Equal => (is_below || is_above, false),
        NotEqual => (false, is_below || is_above),
        NullSafeEqual => (false, false),
    };
    (never || always).then_some(always)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ComparisonOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};

    #[test]
    fn a_comparison_is_decided_where_all_values_agree() {
        let unsigned = ColumnType { unsigned: true, ..ColumnType::new(TypeKind::TinyInt) };
        for (column, values) in [(ColumnType::new(TypeKind::TinyInt), -128..=127), (unsigned, 0..=255)] {
            for operator in [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual] {
                for number in -300..300_i64 {
                    let mut truths = values.clone().map(|value: i64| operator.holds(value.cmp(&number)));
                    let first = truths.next();
                    let agreed = first.filter(|first| truths.all(|truth| truth == *first));
                    let found = decided_by_range(operator, &column, &Value::Int(number));
                    assert_eq!(found, agreed, "{operator:?} {number}");
                }
            }
        }
    }
}
