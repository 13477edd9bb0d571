//! Time zones as sessions set them. Main type: [`TimeZone`].
//! SYSTEM is UTC: the server's stored times must not depend on the machine it runs on.

use super::DateTime;

/// A session's time zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeZone {
    /// `SYSTEM`: UTC.
    #[default]
    System,
    /// `+hh:mm`: that many seconds east of UTC.
    Offset(i32),
}

impl TimeZone {
    /// Reads the value of the variable time_zone: SYSTEM, UTC or an offset from -13:59 to +14:00.
    pub fn parse(name: &str) -> Option<TimeZone> {
        if name.eq_ignore_ascii_case("SYSTEM") {
            return Some(TimeZone::System);
        }
        if name.eq_ignore_ascii_case("UTC") {
            return Some(TimeZone::Offset(0));
        }
        let (sign, rest) = match name.as_bytes().first()? {
            b'+' => (1, &name[1..]),
            b'-' => (-1, &name[1..]),
            _ => return None,
        };
        let (hours, minutes) = rest.split_once(':')?;
        let number = |text: &str| {
            let plain = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse::<i32>().ok()).flatten()
        };
        let (hours, minutes) = (number(hours)?, number(minutes).filter(|&minutes| minutes < 60)?);
        let seconds = sign * (hours * 3600 + minutes * 60);
        (-13 * 3600 - 59 * 60..=14 * 3600).contains(&seconds).then_some(TimeZone::Offset(seconds))
    }

    /// Seconds east of UTC.
    pub fn offset_seconds(self) -> i32 {
        match self {
            TimeZone::System => 0,
            TimeZone::Offset(seconds) => seconds,
        }
    }

    /// A moment of UTC on this zone's clock. The zero moment stays what it is.
    pub fn from_utc(self, utc: DateTime) -> DateTime {
        self.shift(utc, i64::from(self.offset_seconds())).unwrap_or(utc)
    }

    /// A moment of this zone's clock in UTC; None outside the calendar.
    pub fn to_utc(self, local: DateTime) -> Option<DateTime> {
        self.shift(local, -i64::from(self.offset_seconds()))
    }

    fn shift(self, moment: DateTime, seconds: i64) -> Option<DateTime> {
        if seconds == 0 || moment == DateTime::ZERO { Some(moment) } else { moment.add_seconds(seconds) }
    }
}

impl std::fmt::Display for TimeZone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            TimeZone::System => f.write_str("SYSTEM"),
            TimeZone::Offset(seconds) => {
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.unsigned_abs() / 60;
                write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}
