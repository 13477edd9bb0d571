//! What SUM, AVG and the variances give for what was gathered, in windows and in groups alike.

use expression::{Expression, ResultType};
use plan::physical::AggregateKind;
use values::{Decimal, Value};

/// SUM and AVG of exact numbers. As in MySQL an average has more digits than its type while it is computed with.
pub fn exact_result(
    kind: AggregateKind,
    result: &ResultType,
    argument: Option<&Expression>,
    sum: &Decimal,
    count: u64,
) -> Value {
    let scale = result.scale();
    if kind != AggregateKind::Average {
        return Value::Decimal(sum.shown_with(scale));
    }
    let own_scale = argument.map_or(0, |argument| argument.result.scale());
    let count = Decimal::from(count);
    let average = sum.divide(&count, scale.saturating_sub(own_scale));
    average.or_else(|_| sum.divide_to_scale(&count, scale)).map_or(Value::Null, Value::Decimal)
}

/// Numbers as their count, their mean and the sum of the squares of what they differ from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    /// How many.
    pub count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        self.count += 1;
        let delta = number - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (number - self.mean);
    }

    /// Their variance or standard deviation; NULL for too few.
    pub fn variance(&self, kind: AggregateKind) -> Value {
        let AggregateKind::Variance { sample, root } = kind else { return Value::Null };
        let divisor = self.count.saturating_sub(u64::from(sample));
        if self.count == 0 || divisor == 0 {
            return Value::Null;
        }
        let variance = self.squares / divisor as f64;
        Value::Double(if root { variance.sqrt() } else { variance })
    }
}
