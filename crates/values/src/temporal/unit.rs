//! The units of INTERVAL, as the grammar names them. Main type: [`IntervalUnit`].

macro_rules! units {
    ($($unit:ident $name:literal)*) => {
        /// The unit of an interval.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum IntervalUnit {
            $($unit,)*
        }

        impl IntervalUnit {
            /// The keyword in lower case, e.g. `day_hour`.
            pub fn name(self) -> &'static str {
                match self {
                    $(IntervalUnit::$unit => $name,)*
                }
            }

            /// The unit of that name.
            pub fn from_name(name: &str) -> Option<IntervalUnit> {
                match name {
                    $($name => Some(IntervalUnit::$unit),)*
                    _ => None,
                }
            }
        }
    };
}

units! {
    Microsecond "microsecond"
    Second "second"
    Minute "minute"
    Hour "hour"
    Day "day"
    Week "week"
    Month "month"
    Quarter "quarter"
    Year "year"
    SecondMicrosecond "second_microsecond"
    MinuteMicrosecond "minute_microsecond"
    MinuteSecond "minute_second"
    HourMicrosecond "hour_microsecond"
    HourSecond "hour_second"
    HourMinute "hour_minute"
    DayMicrosecond "day_microsecond"
    DaySecond "day_second"
    DayMinute "day_minute"
    DayHour "day_hour"
    YearMonth "year_month"
}

impl IntervalUnit {
    /// Whether adding it leaves the time of day of a DATE alone.
    pub fn is_date_only(self) -> bool {
        use IntervalUnit::*;
        matches!(self, Day | Week | Month | Quarter | Year | YearMonth)
    }

    /// Whether it counts microseconds.
    pub fn has_microseconds(self) -> bool {
        use IntervalUnit::*;
        matches!(self, Microsecond | SecondMicrosecond | MinuteMicrosecond | HourMicrosecond | DayMicrosecond)
    }
}
