//! Words and numbers of the tree: limits, rounded numbers.

use expression::Expression;
use plan::physical::RowLimit;

/// The text of a LIMIT and its number of rows.
pub fn limit_text(limit: &RowLimit) -> (String, f64) {
    let count = constant(limit.count.as_ref());
    let most = count.map_or(f64::MAX, |count| count as f64);
    let count = count.map_or("?".to_owned(), |count| count.to_string());
    match constant(limit.offset.as_ref()).filter(|offset| *offset > 0) {
        Some(offset) => (format!("Limit/Offset: {count}/{offset} row(s)"), most),
        None => (format!("Limit: {count} row(s)"), most),
    }
}

pub fn constant(expression: Option<&Expression>) -> Option<u64> {
    match expression?.literal()? {
        values::Value::Int(number) => u64::try_from(*number).ok(),
        values::Value::UInt(number) => Some(*number),
        _ => None,
    }
}

/// Three significant digits, as MySQL shows costs and rows.
pub fn number(value: f64) -> String {
    if value >= 1e6 {
        let exponent = value.log10().floor() as i32;
        let digits = format!("{:.2}", value / 10f64.powi(exponent));
        return format!("{}e+{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    if value >= 100.0 {
        return format!("{value:.0}");
    }
    let decimals = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
    let digits = format!("{value:.decimals$}");
    if digits.contains('.') {
        return digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_three_digits() {
        for (value, expected) in [
            (0.55, "0.55"),
            (0.0, "0"),
            (3.0, "3"),
            (3955.2, "3955"),
            (12.345, "12.3"),
            (2_500_000.0, "2.5e+6"),
            (0.6666, "0.667"),
        ] {
            assert_eq!(number(value), expected);
        }
    }
}
