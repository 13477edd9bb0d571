//! WEIGHT_STRING of what is no text: as index keys order it.

use values::ValueRef;

/// Eight bytes, big-endian, with the sign turned round.
pub fn integer_weight(number: i128) -> Vec<u8> {
    let bits = match i64::try_from(number) {
        Ok(number) => (number as u64) ^ 1 << 63,
        Err(_) => number as u64,
    };
    bits.to_be_bytes().to_vec()
}

/// Dates, times and moments as numbers that have a bit field for each part, a fraction of 24 bits behind the seconds; None
/// for other values.
pub fn moment_weight(value: ValueRef<'_>) -> Option<Vec<u8>> {
    let clock = |hours: i64, minutes: u8, seconds: u8, microseconds: u32| {
        (((hours << 6 | i64::from(minutes)) << 6 | i64::from(seconds)) << 24) + i64::from(microseconds)
    };
    let packed = match value {
        ValueRef::Date(date) => i64::from(date.year) << 9 | i64::from(date.month) << 5 | i64::from(date.day),
        ValueRef::Time(time) => {
            let span = clock(i64::from(time.hours), time.minutes, time.seconds, time.microseconds);
            TIME_WEIGHT_ZERO + if time.negative { -span - 1 } else { span }
        }
        ValueRef::DateTime(moment) => {
            let months = i64::from(moment.date.year) * 13 + i64::from(moment.date.month);
            let days = months << 5 | i64::from(moment.date.day);
            let hours = days << 5 | i64::from(moment.hour);
            clock(hours, moment.minute, moment.second, moment.microsecond)
        }
        _ => return None,
    };
    Some(integer_weight(packed.into()))
}

/// The weight of no time at all; those of negative times are below.
const TIME_WEIGHT_ZERO: i64 = 0x8000_0000_0000;
