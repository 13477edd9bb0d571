//! What the arguments of functions are for parameters of prepared statements. Main function: [`argument_rule`].
//! The table holds MySQL's rules by function; a function that is not in it takes text.

/// What a place gives a parameter that stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRule {
    /// VARCHAR in the connection's collation.
    Text,
    /// VARBINARY.
    Bytes,
    /// BIGINT.
    Integer,
    /// DECIMAL.
    Decimal,
    /// DOUBLE.
    Double,
    /// DATE.
    Date,
    /// DATETIME.
    DateTime,
    /// TIME.
    Time,
    /// The type of the arguments beside it that have this rule too; text if they are all parameters.
    Beside,
}

/// One letter an argument, the last one for all that follow: `s` text, `b` bytes, `i` integer, `d` decimal, `f` floating
/// point, `D` date, `m` moment (DATETIME), `t` time, `=` as the others.
const RULES: &[(&str, &str)] = &[
    ("abs", "f"),
    ("acos", "f"),
    ("addtime", "t"),
    ("asin", "f"),
    ("atan", "f"),
    ("atan2", "f"),
    ("benchmark", "is"),
    ("bin", "i"),
    ("bin_to_uuid", "si"),
    ("bit_count", "b"),
    ("ceil", "f"),
    ("ceiling", "f"),
    ("char", "i"),
    ("coalesce", "="),
    ("conv", "i"),
    ("convert_tz", "ms"),
    ("cos", "f"),
    ("cot", "f"),
    ("date", "D"),
    ("date_format", "ms"),
    ("datediff", "m"),
    ("day", "m"),
    ("dayname", "m"),
    ("dayofmonth", "m"),
    ("dayofweek", "m"),
    ("dayofyear", "m"),
    ("degrees", "f"),
    ("elt", "is"),
    ("exp", "f"),
    ("export_set", "isssi"),
    // The first argument is the unit.
    ("extract", "sm"),
    ("floor", "f"),
    ("format", "dis"),
    ("format_bytes", "f"),
    ("format_pico_time", "f"),
    ("from_days", "i"),
    ("from_unixtime", "ds"),
    ("get_lock", "si"),
    ("greatest", "="),
    ("hour", "m"),
    ("if", "i="),
    ("ifnull", "="),
    ("inet_ntoa", "i"),
    ("insert", "siis"),
    ("interval", "i"),
    ("last_day", "m"),
    ("last_insert_id", "i"),
    ("least", "="),
    ("left", "si"),
    ("ln", "f"),
    ("locate", "ssi"),
    ("log", "f"),
    ("log10", "f"),
    ("log2", "f"),
    ("lpad", "sis"),
    ("make_set", "is"),
    ("makedate", "i"),
    ("maketime", "iid"),
    ("microsecond", "m"),
    ("mid", "si"),
    ("minute", "m"),
    ("month", "m"),
    ("monthname", "m"),
    ("nullif", "="),
    ("oct", "i"),
    ("period_add", "i"),
    ("period_diff", "i"),
    ("pow", "f"),
    ("power", "f"),
    ("quarter", "m"),
    ("radians", "f"),
    ("rand", "f"),
    ("random_bytes", "i"),
    ("repeat", "si"),
    ("right", "si"),
    ("round", "di"),
    ("rpad", "sis"),
    ("sec_to_time", "d"),
    ("second", "m"),
    ("sha2", "si"),
    ("sign", "f"),
    ("sin", "f"),
    ("sleep", "f"),
    ("space", "i"),
    ("sqrt", "f"),
    ("strcmp", "="),
    ("substr", "si"),
    ("substring", "si"),
    ("substring_index", "ssi"),
    ("subtime", "t"),
    ("tan", "f"),
    ("time", "m"),
    ("time_format", "ms"),
    ("time_to_sec", "t"),
    ("timestamp", "mt"),
    ("timestampdiff", "sm"),
    ("to_days", "m"),
    ("to_seconds", "m"),
    ("truncate", "di"),
    ("unix_timestamp", "m"),
    ("uuid_to_bin", "si"),
    ("week", "mi"),
    ("weekday", "m"),
    ("weekofyear", "m"),
    ("year", "m"),
    ("yearweek", "mi"),
];

/// The rule of an argument, counted from 0, of a function (lower case).
pub fn argument_rule(function: &str, position: usize) -> ArgumentRule {
    let letters = match RULES.binary_search_by_key(&function, |(name, _)| name) {
        Ok(found) => RULES[found].1.as_bytes(),
        Err(_) => b"s",
    };
    match letters[position.min(letters.len() - 1)] {
        b'b' => ArgumentRule::Bytes,
        b'i' => ArgumentRule::Integer,
        b'd' => ArgumentRule::Decimal,
        b'f' => ArgumentRule::Double,
        b'D' => ArgumentRule::Date,
        b'm' => ArgumentRule::DateTime,
        b't' => ArgumentRule::Time,
        b'=' => ArgumentRule::Beside,
        _ => ArgumentRule::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_of_functions_that_exist() {
        assert!(RULES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (name, letters) in RULES {
            assert!(crate::find(name).is_some(), "{name}");
            assert!(
                !letters.is_empty() && letters.bytes().all(|letter| b"sbidfDmt=".contains(&letter)),
                "{name}"
            );
        }
    }

    #[test]
    fn the_last_rule_holds_for_all_that_follow() {
        assert_eq!(argument_rule("elt", 0), ArgumentRule::Integer);
        assert_eq!(argument_rule("elt", 7), ArgumentRule::Text);
        assert_eq!(argument_rule("coalesce", 3), ArgumentRule::Beside);
        assert_eq!(argument_rule("concat", 1), ArgumentRule::Text);
    }
}
