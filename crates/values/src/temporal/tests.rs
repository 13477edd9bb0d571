//! Random texts, numbers, weeks and intervals in `recorded.tsv`, as MySQL 9.7.4 answered them (CAST to
//! DATETIME(6) and TIME(6), WEEK, YEARWEEK, TO_DAYS, WEEKDAY, + INTERVAL), and round trips.

use super::*;
use proptest::prelude::*;

fn shown(moment: DateTime) -> String {
    let mut text = Vec::new();
    moment.append_text(6, &mut text);
    String::from_utf8(text).unwrap()
}

fn read_date_time(text: &str) -> Option<String> {
    let parsed = parse_date_time(text.as_bytes(), DateRules::default())?;
    let moment = parsed.rounded(6)?;
    let utc = moment.add_seconds(-i64::from(parsed.offset_seconds.unwrap_or(0)));
    Some(shown(if parsed.offset_seconds.is_some() { utc? } else { moment }))
}

fn read_time(text: &str) -> Option<String> {
    let mut out = Vec::new();
    parse_time(text.as_bytes())?.rounded(6).append_text(6, &mut out);
    Some(String::from_utf8(out).unwrap())
}

fn weeks(date: Date) -> String {
    let week = |mode: u64| format!("{} ", date.week(WeekMode::new(mode)).0);
    let year_week = |mode: u64| {
        let (week, year) = date.week(WeekMode::new(mode | 2));
        format!("{year}{week:02} ")
    };
    let all: String = (0..8).map(week).chain((0..8).map(year_week)).collect();
    let number = date.day_number();
    format!("{all}{number} {} {}", date.weekday(), Date::from_day_number(number))
}

fn answer(fields: &[&str]) -> Option<String> {
    let number = |at: usize| fields[at].parse::<i64>().unwrap();
    match fields[0] {
        "dt" => read_date_time(fields[1]),
        "t" => read_time(fields[1]),
        "n" => DateTime::from_number(number(1), DateRules::default()).map(|moment| moment.to_string()),
        "w" => Some(weeks(Date::new(number(1) as u16, number(2) as u8, number(3) as u8))),
        "a" => {
            let start = parse_date_time(fields[1].as_bytes(), DateRules::default())?.value;
            let interval =
                Interval { months: number(2), days: number(3), microseconds: i128::from(number(4)) };
            start.add_interval(interval).map(shown)
        }
        kind => panic!("unknown kind {kind}"),
    }
}

#[test]
fn recorded_answers_are_given() {
    let mut differences = Vec::new();
    for line in include_str!("recorded.tsv").lines() {
        let (question, expected) = line.rsplit_once("\t=\t").unwrap();
        let fields: Vec<&str> = question.split('\t').collect();
        let found = answer(&fields).unwrap_or_else(|| "NULL".to_owned());
        if found != expected {
            differences.push(format!("{question:?}: {found} instead of {expected}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn zones_are_read_and_applied() {
    assert_eq!(TimeZone::parse("+09:00"), Some(TimeZone::Offset(32_400)));
    assert_eq!(TimeZone::parse("-13:59").map(|zone| zone.to_string()), Some("-13:59".to_owned()));
    assert_eq!(TimeZone::parse("SYSTEM"), Some(TimeZone::System));
    for wrong in ["+14:01", "-14:00", "+1", "", "9:00", "+01:60", "Mars/Olympus"] {
        assert_eq!(TimeZone::parse(wrong), None, "{wrong}");
    }
    let utc = Date::new(2023, 12, 31).midnight();
    let local = TimeZone::Offset(-3600).from_utc(utc);
    assert_eq!(shown(local), "2023-12-30 23:00:00.000000");
    assert_eq!(TimeZone::Offset(-3600).to_utc(local), Some(utc));
}

proptest! {
    #[test]
    fn day_numbers_go_both_ways(number in 366u32..=DAY_NUMBER_MAX) {
        let date = Date::from_day_number(number);
        prop_assert!(date.is_real());
        prop_assert_eq!(date.day_number(), number);
    }

    #[test]
    fn any_text_is_taken(text in "[-+0-9:. T]{0,30}", bytes in prop::collection::vec(any::<u8>(), 0..30), number: i64) {
        for text in [text.as_bytes(), &bytes] {
            if let Some(parsed) = parse_date_time(text, DateRules::default()) {
                let _ = parsed.rounded(6);
            }
            if let Some(parsed) = parse_time(text) {
                let _ = parsed.rounded(3);
            }
        }
        let _ = DateTime::from_number(number, DateRules::default());
        let _ = Time::from_number(number);
    }
}
