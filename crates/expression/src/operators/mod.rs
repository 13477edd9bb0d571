//! Operators, one file per family: how each is typed, and how it is evaluated for one row.

mod arithmetic;
mod bits;
mod case;
mod cast;
mod column_range;
mod comparison;
mod interval;
mod json_cast;
mod list;
mod listed_constant;
mod operands;
mod pattern;
mod stored_constant;

pub use arithmetic::{
    Arithmetic, ArithmeticMode, ArithmeticOperator, derive_negation, division_by_zero, integer_result,
    negate as arithmetic_negate, out_of_range,
};
pub use bits::{
    AggregatedBytes, BitOperation, BitOperator, bit_aggregate_type, bytes_of_nothing, combine_bytes,
};
pub use case::Case;
pub use cast::{Cast, CastFailure, invalid_bytes};
pub use column_range::decided_by_range;
pub use comparison::{
    Comparison, ComparisonMode, ComparisonOperator, compare_values, compared_decimal, compared_moment,
    compared_time,
};
pub use interval::{DateArithmetic, out_of_range as moment_out_of_range};
pub use list::{Between, InList};
pub use listed_constant::ListedConstant;
pub use operands::{
    adapt_constant, adapt_text, check_moment, prepare_equal_values, prepare_list, prepare_listed_member,
    prepare_pair, prepare_range,
};
pub use pattern::{Like, Regexp, check_regexp_sets, like_prefix};
pub use stored_constant::{adapt_equal_year, number_not_held};
pub use values::temporal::IntervalUnit;
