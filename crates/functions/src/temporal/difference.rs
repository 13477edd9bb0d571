//! What lies between two moments: TIMESTAMPDIFF. TIMEDIFF, ADDTIME and SUBTIME take moments and spans: which of them a text is.

use values::temporal::{DateRules, DateTime, IntervalUnit, parse_date_time};

/// How many whole units lie between two moments; None for a unit of more than one field.
pub fn units_between(unit: IntervalUnit, from: &DateTime, to: &DateTime) -> Option<i64> {
    let microseconds = to.microseconds_since(from);
    let seconds = microseconds / 1_000_000;
    let months = whole_months(from, to);
    Some(match unit {
        IntervalUnit::Microsecond => microseconds,
        IntervalUnit::Second => seconds,
        IntervalUnit::Minute => seconds / 60,
        IntervalUnit::Hour => seconds / 3600,
        IntervalUnit::Day => seconds / 86_400,
        IntervalUnit::Week => seconds / 604_800,
        IntervalUnit::Month => months,
        IntervalUnit::Quarter => months / 3,
        IntervalUnit::Year => months / 12,
        _ => return None,
    })
}

/// Full months from one moment to another.
fn whole_months(from: &DateTime, to: &DateTime) -> i64 {
    if to < from {
        return -whole_months(to, from);
    }
    let month = |moment: &DateTime| i64::from(moment.date.year) * 12 + i64::from(moment.date.month);
    let in_month =
        |moment: &DateTime| (moment.date.day, moment.hour, moment.minute, moment.second, moment.microsecond);
    month(to) - month(from) - i64::from(in_month(to) < in_month(from))
}

/// Characters of a text that may be a date with a time of day, whatever stands between them.
const MOMENT_CHARACTERS_MIN: usize = 12;

/// Whether a text holds a date (and maybe a time) rather than a time only.
pub fn looks_like_date(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(digits) {
        Some(b'-' | b'/') => digits > 0,
        // Else it is a number.
        Some(b'.') => digits > 0 && text.len() >= MOMENT_CHARACTERS_MIN && text.contains(&b' '),
        None => digits >= MOMENT_CHARACTERS_MIN || parse_date_time(text, DateRules::default()).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_a_date_are_moments() {
        let moments =
            ["2001-02-03", " 2001-02-03 04:05:06", "2001.02.03 04.05.06", "20010203040506", "1/2/3"];
        assert!(moments.iter().all(|text| looks_like_date(text.as_bytes())));
        let spans =
            ["04:05:06", " 04:05:06", "10203.5", "010203.123456789012", "1 2:3:4.5", "-1:0:0", "x", ""];
        assert!(!spans.iter().any(|text| looks_like_date(text.as_bytes())));
    }

    #[test]
    fn whole_units_lie_between() {
        let day = |year, month, day| values::temporal::Date::new(year, month, day).midnight();
        let months = |from, to| units_between(IntervalUnit::Month, &from, &to);
        assert_eq!(months(day(2024, 1, 31), day(2024, 2, 29)), Some(0));
        assert_eq!(months(day(2024, 2, 29), day(2024, 1, 29)), Some(-1));
        assert_eq!(units_between(IntervalUnit::Week, &day(2024, 1, 1), &day(2024, 1, 15)), Some(2));
        assert_eq!(units_between(IntervalUnit::DayHour, &day(2024, 1, 1), &day(2024, 1, 1)), None);
    }
}
