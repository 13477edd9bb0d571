//! DATE_FORMAT, TIME_FORMAT and GET_FORMAT.

use crate::locale::{self, Locale};
use crate::pieces::Interrupt;
use errors::SqlResult;
use std::io::Write as _;
use values::temporal::{Date, DateTime, Time, WeekMode};

/// A format looks for a kill after so many conversions.
const KILL_LOOK_CONVERSIONS: u64 = 1 << 16;

/// The longest text that a format can give.
pub fn formatted_length(format: &[u8]) -> u32 {
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        length += match byte {
            b'%' => match bytes.next() {
                Some(b'M' | b'W') => 64,
                Some(b'D' | b'Y' | b'x' | b'X') => 4,
                Some(b'a' | b'b') => 32,
                Some(b'j') => 3,
                Some(
                    b'u' | b'U' | b'v' | b'V' | b'y' | b'm' | b'd' | b'h' | b'i' | b'I' | b'l' | b'p' | b'S'
                    | b's' | b'c' | b'e',
                ) => 2,
                Some(b'k' | b'H') => 7,
                Some(b'r') => 11,
                Some(b'T') => 8,
                Some(b'f') => 6,
                _ => 1,
            },
            _ => 1,
        };
    }
    length
}

/// A moment in a format; None where a conversion has no meaning (a name of month 0).
pub fn format_moment(
    moment: DateTime,
    format: &[u8],
    locale: &Locale,
    interrupt: &dyn Interrupt,
) -> SqlResult<Option<Vec<u8>>> {
    let clock = Clock { hours: u32::from(moment.hour), negative: false, moment };
    write_format(format, Some(&moment), &clock, locale, interrupt)
}

/// A time in a format. The date of the moment that it was taken from stays there for the conversions that ask for one; None
/// where a conversion has no meaning.
pub fn format_time(
    time: Time,
    date: Option<Date>,
    format: &[u8],
    interrupt: &dyn Interrupt,
) -> SqlResult<Option<Vec<u8>>> {
    let moment = DateTime {
        date: date.unwrap_or(Date::ZERO),
        minute: time.minutes,
        second: time.seconds,
        microsecond: time.microseconds,
        hour: (time.hours % 24) as u8,
    };
    let clock = Clock { hours: u32::from(time.hours), negative: time.negative, moment };
    // Names of days and numbers of weeks it has for none.
    let names_days = format.windows(2).any(|pair| pair[0] == b'%' && b"WaDjUuVvXxw".contains(&pair[1]));
    let date = date.filter(|_| !names_days).map(|_| &clock.moment);
    write_format(format, date, &clock, locale::english(), interrupt)
}

struct Clock {
    /// Hours of a span: above 23 possible.
    hours: u32,
    negative: bool,
    moment: DateTime,
}

/// The text of a format; None where a conversion has no meaning (a name of month 0, a date part of a time).
fn write_format(
    format: &[u8],
    date: Option<&DateTime>,
    clock: &Clock,
    locale: &Locale,
    interrupt: &dyn Interrupt,
) -> SqlResult<Option<Vec<u8>>> {
    let mut out = Vec::with_capacity(format.len() * 2);
    if clock.negative {
        out.push(b'-');
    }
    let (mut bytes, mut conversions) = (format.iter(), 0_u64);
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        conversions += 1;
        if conversions.is_multiple_of(KILL_LOOK_CONVERSIONS) {
            interrupt.check_killed()?;
        }
        let Some(&conversion) = bytes.next() else {
            out.push(b'%');
            break;
        };
        if !write_clock(&mut out, conversion, clock) {
            let written = write_date(&mut out, conversion, date, locale);
            if written.is_none() {
                return Ok(None);
            }
        }
    }
    Ok(Some(out))
}

/// Writes a conversion of the time of day; false if it is none. Writing to memory cannot fail.
fn write_clock(out: &mut Vec<u8>, conversion: u8, clock: &Clock) -> bool {
    let (hours, moment) = (clock.hours, &clock.moment);
    let twelve = (hours % 24 + 11) % 12 + 1;
    let half = if hours % 24 < 12 { "AM" } else { "PM" };
    let written = match conversion {
        b'f' => write!(out, "{:06}", moment.microsecond),
        b'H' => write!(out, "{hours:02}"),
        b'k' => write!(out, "{hours}"),
        b'h' | b'I' => write!(out, "{twelve:02}"),
        b'l' => write!(out, "{twelve}"),
        b'i' => write!(out, "{:02}", moment.minute),
        b'S' | b's' => write!(out, "{:02}", moment.second),
        b'p' => write!(out, "{half}"),
        b'r' => write!(out, "{twelve:02}:{:02}:{:02} {half}", moment.minute, moment.second),
        b'T' => write!(out, "{hours:02}:{:02}:{:02}", moment.minute, moment.second),
        _ => return false,
    };
    debug_assert!(written.is_ok());
    true
}

/// Writes a conversion of the date; None where it has no meaning. A time has only zero dates.
fn write_date(out: &mut Vec<u8>, conversion: u8, date: Option<&DateTime>, locale: &Locale) -> Option<()> {
    let names = b"MbWaDjUuVvXxw";
    let zero = DateTime::ZERO;
    let moment = match date {
        Some(moment) => moment,
        None if names.contains(&conversion) => return None,
        None => &zero,
    };
    let (year, month, day) = (moment.date.year, moment.date.month, moment.date.day);
    let week = |mode: u64| moment.date.week(WeekMode::new(mode));
    let weekday = usize::from(moment.date.weekday());
    if b"Waw".contains(&conversion) && month == 0 && year == 0 {
        return None;
    }
    if b"Mb".contains(&conversion) && month == 0 {
        return None;
    }
    let written = match conversion {
        b'Y' => write!(out, "{year:04}"),
        b'y' => write!(out, "{:02}", year % 100),
        b'm' => write!(out, "{month:02}"),
        b'c' => write!(out, "{month}"),
        b'd' => write!(out, "{day:02}"),
        b'e' => write!(out, "{day}"),
        b'D' => write!(out, "{day}{}", ordinal(day)),
        b'M' => write!(out, "{}", locale.months[usize::from(month) - 1]),
        b'b' => write!(out, "{}", locale.short_months[usize::from(month) - 1]),
        b'W' => write!(out, "{}", locale.days[weekday]),
        b'a' => write!(out, "{}", locale.short_days[weekday]),
        b'w' => write!(out, "{}", (weekday + 1) % 7),
        // Zeros come before a sign too.
        b'j' => write!(out, "{:0>3}", moment.date.day_of_year()),
        b'U' => write!(out, "{:02}", week(0).0),
        b'u' => write!(out, "{:02}", week(1).0),
        b'V' => write!(out, "{:02}", week(2).0),
        b'v' => write!(out, "{:02}", week(3).0),
        b'X' => write!(out, "{:04}", week(2).1),
        b'x' => write!(out, "{:04}", week(3).1),
        other => {
            out.push(other);
            Ok(())
        }
    };
    written.ok()
}

fn ordinal(day: u8) -> &'static str {
    match (day % 10, day) {
        (_, 10..=19) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// The format that GET_FORMAT names for a kind of value and a region.
pub fn named_format(kind: &str, region: &str) -> Option<&'static str> {
    Some(match (kind.to_ascii_lowercase().as_str(), region.to_ascii_uppercase().as_str()) {
        ("date", "USA") => "%m.%d.%Y",
        ("date", "JIS" | "ISO") => "%Y-%m-%d",
        ("date", "EUR") => "%d.%m.%Y",
        ("date", "INTERNAL") => "%Y%m%d",
        ("datetime" | "timestamp", "USA" | "EUR") => "%Y-%m-%d %H.%i.%s",
        ("datetime" | "timestamp", "JIS" | "ISO") => "%Y-%m-%d %H:%i:%s",
        ("datetime" | "timestamp", "INTERNAL") => "%Y%m%d%H%i%s",
        ("time", "USA") => "%h:%i:%s %p",
        ("time", "JIS" | "ISO") => "%H:%i:%s",
        ("time", "EUR") => "%H.%i.%s",
        ("time", "INTERNAL") => "%H%i%s",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    fn moment() -> DateTime {
        DateTime { hour: 15, minute: 4, second: 5, microsecond: 60, ..Date::new(2024, 2, 29).midnight() }
    }

    #[test]
    fn conversions() {
        let shown = |format: &str| {
            let text = format_moment(moment(), format.as_bytes(), locale::english(), &Never).unwrap();
            text.map(|text| String::from_utf8(text).unwrap())
        };
        let golden = [
            ("%Y-%m-%d %T.%f", "2024-02-29 15:04:05.000060"),
            ("%W %a %w %j %D %M %b", "Thursday Thu 4 060 29th February Feb"),
            ("%U %u %X-%V %x-%v", "08 09 2024-08 2024-09"),
            ("%r %l %k %p %%z %z %", "03:04:05 PM 3 15 PM %z z %"),
        ];
        for (format, expected) in golden {
            assert_eq!(shown(format).as_deref(), Some(expected));
        }
    }

    #[test]
    fn times_have_no_names_of_days() {
        let time = Time { negative: true, hours: 100, minutes: 1, ..Time::default() };
        let shown = |format: &str| format_time(time, None, format.as_bytes(), &Never).unwrap();
        assert_eq!(shown("%H:%i %h"), Some(b"-100:01 04".to_vec()));
        assert_eq!((shown("%W"), shown("%Y")), (None, Some(b"-0000".to_vec())));
    }

    #[test]
    fn lengths_are_upper_bounds() {
        assert_eq!((formatted_length(b"%Y-%m"), formatted_length(b"%M"), formatted_length(b"")), (7, 64, 0));
        assert_eq!((named_format("Date", "usa"), named_format("date", "x")), (Some("%m.%d.%Y"), None));
    }
}
