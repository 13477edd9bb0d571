//! CONVERT_TZ, and time zones: a fixed offset, or rules that someone else holds (the session loads named zones).
//! Main type: [`TimeZone`]. Instants are microseconds since 1970-01-01 00:00:00 UTC.

use std::sync::Arc;
use stdx::civil_date::civil_date;
use values::temporal::{Date, DateTime};

/// The rules of a named zone.
pub trait ZoneRules: Send + Sync + std::fmt::Debug {
    /// Name as given.
    fn name(&self) -> &str;

    /// Seconds east of UTC at an instant (seconds since 1970 in UTC).
    fn offset_at(&self, utc_seconds: i64) -> i32;

    /// Seconds east of UTC that hold for a wall clock reading (seconds since 1970 as if it were UTC). A reading
    /// that occurs twice takes the first; one that is skipped takes the offset after the gap.
    fn offset_at_local(&self, local_seconds: i64) -> i32;
}

/// A session's time zone.
#[derive(Clone, Debug)]
pub enum TimeZone {
    /// Seconds east of UTC: '+02:00', and UTC itself.
    Fixed(i32),
    /// A named zone.
    Rules(Arc<dyn ZoneRules>),
}

const MICROSECONDS: i64 = 1_000_000;
const DAY_SECONDS: i64 = 86_400;

impl TimeZone {
    /// UTC.
    pub const UTC: TimeZone = TimeZone::Fixed(0);

    /// The wall clock reading at an instant.
    pub fn local(&self, utc_microseconds: i64) -> DateTime {
        let seconds = utc_microseconds.div_euclid(MICROSECONDS);
        let offset = self.offset_at(seconds);
        civil(utc_microseconds.saturating_add(i64::from(offset) * MICROSECONDS))
    }

    /// Days from 1970-01-01 to the local date at an instant: cheaper than [`TimeZone::local`] where dates are only compared.
    pub fn local_day(&self, utc_microseconds: i64) -> i64 {
        let seconds = utc_microseconds.div_euclid(MICROSECONDS);
        let offset = self.offset_at(seconds);
        seconds.saturating_add(i64::from(offset)).div_euclid(24 * 60 * 60)
    }

    /// Seconds east of UTC at an instant, in seconds since 1970.
    #[inline]
    fn offset_at(&self, utc_seconds: i64) -> i32 {
        match self {
            TimeZone::Fixed(offset) => *offset,
            TimeZone::Rules(rules) => rules.offset_at(utc_seconds),
        }
    }

    /// The instant of a wall clock reading. Month and day must not be 0.
    pub fn instant(&self, local: DateTime) -> i64 {
        let reading = civil_microseconds(local);
        let offset = match self {
            TimeZone::Fixed(offset) => *offset,
            TimeZone::Rules(rules) => rules.offset_at_local(reading.div_euclid(MICROSECONDS)),
        };
        reading - i64::from(offset) * MICROSECONDS
    }

    /// The zone as conversions to columns use it. A zone with rules leaves TIMESTAMP local: see
    /// [`TimeZone::stored`].
    pub fn for_storing(&self) -> values::temporal::TimeZone {
        match self {
            TimeZone::Fixed(0) | TimeZone::Rules(_) => values::temporal::TimeZone::System,
            TimeZone::Fixed(offset) => values::temporal::TimeZone::Offset(*offset),
        }
    }

    /// What a TIMESTAMP column holds of the value that a conversion with [`TimeZone::for_storing`] gave for it.
    pub fn stored(&self, converted: DateTime) -> DateTime {
        match self {
            TimeZone::Fixed(_) => converted,
            TimeZone::Rules(_) => self.local_to_utc(converted),
        }
    }

    /// A UTC reading as a local one: how TIMESTAMP columns are read. '0000-00-00' stays.
    pub fn utc_to_local(&self, utc: DateTime) -> DateTime {
        match self {
            TimeZone::Fixed(0) => utc,
            _ if utc.date == Date::default() => utc,
            _ => self.local(civil_microseconds(utc)),
        }
    }

    /// A local reading as a UTC one: how TIMESTAMP columns are stored. '0000-00-00' stays.
    pub fn local_to_utc(&self, local: DateTime) -> DateTime {
        match self {
            TimeZone::Fixed(0) => local,
            _ if local.date == Date::default() => local,
            _ => civil(self.instant(local)),
        }
    }
}

/// 3001-01-19 03:14:07.999999 UTC: the last instant that UNIX_TIMESTAMP, FROM_UNIXTIME and CONVERT_TZ know.
pub const INSTANT_MAX_MICROSECONDS: i128 = 32_536_771_199_999_999;

/// A reading of one zone's clock as one of another's. What lies outside the range of TIMESTAMP is not converted.
pub fn convert(moment: DateTime, from: &TimeZone, to: &TimeZone) -> DateTime {
    let instant = from.instant(moment);
    // The first second is none of TIMESTAMP's.
    let is_known = (1_000_000..=INSTANT_MAX_MICROSECONDS).contains(&i128::from(instant));
    if is_known { to.local(instant) } else { moment }
}

/// Days since 1970-01-01 of a proleptic Gregorian date.
pub fn days_since_1970(date: Date) -> i64 {
    let year = i64::from(date.year) - i64::from(date.month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (i64::from(date.month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(date.day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date of a number of days since 1970-01-01; years outside 0 to 9999 are cut.
pub fn date_of_day(days: i64) -> Date {
    let (year, month, day) = civil_date(days);
    Date { year: year.clamp(0, 9999) as u16, month: month as u8, day: day as u8 }
}

fn civil_microseconds(reading: DateTime) -> i64 {
    let clock = i64::from(reading.hour) * 3600 + i64::from(reading.minute) * 60 + i64::from(reading.second);
    (days_since_1970(reading.date) * DAY_SECONDS + clock) * MICROSECONDS + i64::from(reading.microsecond)
}

fn civil(microseconds: i64) -> DateTime {
    let seconds = microseconds.div_euclid(MICROSECONDS);
    let clock = seconds.rem_euclid(DAY_SECONDS) as u32;
    DateTime {
        date: date_of_day(seconds.div_euclid(DAY_SECONDS)),
        hour: (clock / 3600) as u8,
        minute: (clock / 60 % 60) as u8,
        second: (clock % 60) as u8,
        microsecond: microseconds.rem_euclid(MICROSECONDS) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_go_both_ways() {
        for day in (-719_000..2_930_000).step_by(97) {
            assert_eq!(days_since_1970(date_of_day(day)), day);
        }
        assert_eq!(days_since_1970(Date { year: 1970, month: 1, day: 1 }), 0);
        assert_eq!(date_of_day(19_782), Date { year: 2024, month: 2, day: 29 });
    }

    #[test]
    fn an_offset_moves_the_reading() {
        let zone = TimeZone::Fixed(-5 * 3600);
        let local = zone.local(0);
        assert_eq!((local.date.year, local.date.month, local.date.day, local.hour), (1969, 12, 31, 19));
        assert_eq!(zone.instant(local), 0);
    }
}
