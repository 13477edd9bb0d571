//! Words and numbers of the tree: limits, rounded numbers.

use expression::Expression;
use plan::physical::RowLimit;

/// What is known of a LIMIT before it runs.
pub struct Most {
    /// Rows wanted.
    pub rows: f64,
    /// Rows left out before.
    pub offset: u64,
    /// The last row that is looked at.
    pub last_row: u64,
}

/// The text of a LIMIT and its numbers.
pub fn limit_text(limit: &RowLimit) -> (String, Most) {
    let count = constant(limit.count.as_ref());
    let offset = constant(limit.offset.as_ref()).unwrap_or(0);
    let most = Most {
        rows: count.map_or(f64::MAX, |count| count as f64),
        offset,
        last_row: count.unwrap_or(u64::MAX).saturating_add(offset),
    };
    let count = count.map_or("?".to_owned(), |count| count.to_string());
    match offset {
        0 => (format!("Limit: {count} row(s)"), most),
        offset => (format!("Limit/Offset: {count}/{offset} row(s)"), most),
    }
}

/// A whole number that is known before the statement runs.
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

/// A time, as MySQL shows it: what is below a microsecond with an exponent.
pub fn milliseconds(value: f64) -> String {
    if value > 0.0 && value < 1e-3 { format!("{}e-6", number(value * 1e6)) } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::{milliseconds, number};

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

    #[test]
    fn short_times_have_an_exponent() {
        assert_eq!(milliseconds(0.00006), "60e-6");
        assert_eq!(milliseconds(0.00426), "0.00426");
        assert_eq!(milliseconds(0.0), "0");
    }
}
