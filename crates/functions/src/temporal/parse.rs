//! STR_TO_DATE: reads a text by a format.

use crate::locale::english;
use values::temporal::{DAY_NUMBER_MAX, Date, DateTime};

const DATE_CONVERSIONS: &[u8] = b"MVUXYWabcjmvuxyDdew";
const TIME_CONVERSIONS: &[u8] = b"HISThfiklprs";

/// What a format reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatParts {
    /// Some part of a date.
    pub date: bool,
    /// Some part of a time of day.
    pub time: bool,
    /// A fraction of a second.
    pub fraction: bool,
}

/// The parts that the conversions of a format stand for.
pub fn parts_of(format: &[u8]) -> FormatParts {
    let used = |set: &[u8]| format.windows(2).any(|pair| pair[0] == b'%' && set.contains(&pair[1]));
    FormatParts { date: used(DATE_CONVERSIONS), time: used(TIME_CONVERSIONS), fraction: used(b"f") }
}

/// The moment that a text has by a format, and what follows it; None where they do not fit, or contradict the calendar.
pub fn read_moment<'t>(text: &'t str, format: &str) -> Option<(DateTime, &'t str)> {
    Reader { rest: text }.read(format)?.moment()
}

/// What a format has read so far.
#[derive(Default)]
struct Fields<'a> {
    moment: DateTime,
    afternoon: Option<bool>,
    twelve_hours: bool,
    day_of_year: Option<u32>,
    /// Week number, Sunday first, whether its year is given by %X or %x.
    week: Option<(u32, bool)>,
    week_year: Option<u32>,
    weekday: Option<u32>,
    rest: &'a str,
}

impl<'a> Fields<'a> {
    /// The date and time that the fields make; None if they contradict the calendar.
    fn moment(mut self) -> Option<(DateTime, &'a str)> {
        if self.twelve_hours {
            if !(1..=12).contains(&self.moment.hour) {
                return None;
            }
            self.moment.hour %= 12;
        }
        if self.afternoon == Some(true) {
            if !self.twelve_hours && self.moment.hour > 12 {
                return None;
            }
            self.moment.hour = self.moment.hour % 12 + 12;
        }
        if let Some(day) = self.day_of_year {
            let number = Date::new(self.moment.date.year, 1, 1).day_number() + day.checked_sub(1)?;
            self.moment.date = date_of(number)?;
        }
        if let (Some((week, sunday_first)), Some(weekday)) = (self.week, self.weekday) {
            self.moment.date = self.week_date(week, sunday_first, weekday)?;
        }
        let moment = self.moment;
        if moment.hour > 23 || moment.minute > 59 || moment.second > 59 {
            return None;
        }
        Some((moment, self.rest))
    }

    fn week_date(&self, week: u32, sunday_first: bool, weekday: u32) -> Option<Date> {
        let year = self.week_year.unwrap_or(u32::from(self.moment.date.year));
        let first = Date::new(u16::try_from(year).ok()?, 1, 1);
        let start = u32::from(first.weekday()) + u32::from(sunday_first);
        let start = start % 7;
        let first_number = i64::from(first.day_number());
        let offset = if sunday_first {
            let to_first = if start == 0 { 0 } else { 7 - i64::from(start) };
            to_first + (i64::from(week) - 1) * 7 + i64::from(weekday % 7)
        } else {
            let to_first = if start <= 3 { 0 } else { 7 } - i64::from(start);
            to_first + (i64::from(week) - 1) * 7 + (i64::from(weekday) + 6) % 7
        };
        date_of(u32::try_from(first_number + offset).ok()?)
    }
}

fn date_of(number: u32) -> Option<Date> {
    (366..=DAY_NUMBER_MAX).contains(&number).then(|| Date::from_day_number(number))
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn read(mut self, format: &str) -> Option<Fields<'a>> {
        let mut fields = Fields::default();
        let mut characters = format.chars();
        while let Some(character) = characters.next() {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() {
                break;
            }
            match character {
                '%' => self.conversion(characters.next()?, &mut fields)?,
                blank if blank.is_whitespace() => {}
                other => self.rest = self.rest.strip_prefix(other)?,
            }
        }
        fields.rest = self.rest;
        Some(fields)
    }

    fn conversion(&mut self, conversion: char, fields: &mut Fields<'a>) -> Option<()> {
        let moment = &mut fields.moment;
        match conversion {
            'Y' => moment.date.year = self.year()?,
            'y' => moment.date.year = two_digit_year(self.number(2)?),
            'm' | 'c' => moment.date.month = self.number(2)? as u8,
            'M' => moment.date.month = self.name(&english().months)?,
            'b' => moment.date.month = self.name(&english().short_months)?,
            'd' | 'e' => moment.date.day = self.number(2)? as u8,
            'D' => {
                moment.date.day = self.number(2)? as u8;
                self.rest = self.rest.get(2..)?;
            }
            'H' | 'k' => moment.hour = self.number(2)? as u8,
            'h' | 'I' | 'l' => {
                moment.hour = self.number(2)? as u8;
                fields.twelve_hours = true;
            }
            'i' => moment.minute = self.number(2)? as u8,
            's' | 'S' => moment.second = self.number(2)? as u8,
            'f' => moment.microsecond = self.fraction()?,
            'p' => fields.afternoon = Some(self.half()?),
            'T' => self.clock(moment)?,
            'r' => {
                self.clock(moment)?;
                self.rest = self.rest.trim_start();
                fields.twelve_hours = true;
                fields.afternoon = Some(self.half()?);
            }
            _ => return self.calendar_conversion(conversion, fields),
        }
        Some(())
    }

    /// Conversions of week, weekday and day of the year, and skipping.
    fn calendar_conversion(&mut self, conversion: char, fields: &mut Fields<'a>) -> Option<()> {
        match conversion {
            'j' => fields.day_of_year = Some(self.number(3)?),
            'U' | 'V' => fields.week = Some((self.number(2)?, true)),
            'u' | 'v' => fields.week = Some((self.number(2)?, false)),
            'X' | 'x' => fields.week_year = Some(self.number(4)?),
            'W' => fields.weekday = Some(u32::from(self.name(&english().days)?)),
            'a' => fields.weekday = Some(u32::from(self.name(&english().short_days)?)),
            'w' => fields.weekday = Some(self.number(1)?),
            '.' => self.skip(|c| c.is_ascii_punctuation()),
            '@' => self.skip(char::is_alphabetic),
            '#' => self.skip(|c| c.is_ascii_digit()),
            '%' => self.rest = self.rest.strip_prefix('%')?,
            _ => return None,
        }
        Some(())
    }

    fn skip(&mut self, belongs: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(belongs);
    }

    /// A number of at most so many digits.
    fn number(&mut self, digits_max: usize) -> Option<u32> {
        let digits = self.rest.bytes().take(digits_max).take_while(u8::is_ascii_digit).count();
        let number = self.rest.get(..digits)?.parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    fn year(&mut self) -> Option<u16> {
        let before = self.rest.len();
        let number = self.number(4)?;
        Some(if before - self.rest.len() <= 2 { two_digit_year(number) } else { number as u16 })
    }

    fn fraction(&mut self) -> Option<u32> {
        let before = self.rest.len();
        let number = self.number(6)?;
        let digits = before - self.rest.len();
        Some(number * 10u32.pow(6 - digits.min(6) as u32))
    }

    fn half(&mut self) -> Option<bool> {
        let word = self.rest.get(..2)?.to_ascii_uppercase();
        self.rest = &self.rest[2..];
        match word.as_str() {
            "AM" => Some(false),
            "PM" => Some(true),
            _ => None,
        }
    }

    fn clock(&mut self, moment: &mut DateTime) -> Option<()> {
        moment.hour = self.number(2)? as u8;
        self.rest = self.rest.strip_prefix(':')?;
        moment.minute = self.number(2)? as u8;
        self.rest = self.rest.strip_prefix(':')?;
        moment.second = self.number(2)? as u8;
        Some(())
    }

    /// The number (from 1) of the name at the start, compared by its first letters without regard to case.
    fn name(&mut self, names: &[&str]) -> Option<u8> {
        for (at, wanted) in names.iter().enumerate() {
            if self.rest.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted)) {
                self.rest = &self.rest[wanted.len()..];
                return Some(at as u8 + 1);
            }
        }
        None
    }
}

fn two_digit_year(number: u32) -> u16 {
    let number = number as u16;
    if number < 70 { number + 2000 } else { number + 1900 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_the_format() {
        let read =
            |text, format| read_moment(text, format).map(|(moment, rest)| (moment.date, moment.hour, rest));
        let date = Date::new(2024, 2, 29);
        assert_eq!(read("29.2.24 x", "%d.%m.%y"), Some((date, 0, " x")));
        assert_eq!(read("Feb 29 2024 03 PM", "%b %d %Y %h %p"), Some((date, 15, "")));
        assert_eq!(read("2024 60", "%Y %j"), Some((date, 0, "")));
        assert_eq!(read("2024 9 Thursday", "%x %v %W"), Some((date, 0, "")));
        for (text, format) in [("13 AM", "%h %p"), ("x", "%d"), ("25", "%H"), ("2024 0", "%Y %j")] {
            assert_eq!(read(text, format), None, "{text}");
        }
    }

    #[test]
    fn parts_tell_the_type() {
        assert_eq!(parts_of(b"%Y %H"), FormatParts { date: true, time: true, fraction: false });
        assert_eq!(parts_of(b"%f"), FormatParts { date: false, time: true, fraction: true });
    }
}
