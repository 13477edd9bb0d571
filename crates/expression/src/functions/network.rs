//! Network addresses: INET_ATON, INET_NTOA, INET6_ATON, INET6_NTOA and the predicates IS_IPV4, IS_IPV6 and their kin.

use super::{Call, Derivation, FunctionDefinition, pure};
use crate::result_type::{ResultType, TypeClass};
use errors::{SqlResult, sql_error};
use std::fmt::Write as _;
use std::net::Ipv6Addr;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("inet_aton", 1, 1, |_| Ok(ResultType::unsigned(21).nullable()), inet_aton),
    pure("inet_ntoa", 1, 1, |derivation| Ok(derivation.connection_text(31).nullable()), inet_ntoa),
    pure("inet6_aton", 1, 1, |_| Ok(ResultType::binary(16).nullable()), inet6_aton),
    pure("inet6_ntoa", 1, 1, |derivation| Ok(derivation.connection_text(39).nullable()), inet6_ntoa),
    pure("is_ipv4", 1, 1, derive_predicate, |call| text_predicate(call, |text| parse_ipv4(text).is_some())),
    pure("is_ipv6", 1, 1, derive_predicate, |call| text_predicate(call, |text| parse_ipv6(text).is_some())),
    pure("is_ipv4_compat", 1, 1, derive_predicate, |call| {
        bytes_predicate(call, |bytes| {
            bytes[..15] != [0; 15] && bytes[..12] == [0; 12] || bytes[..15] == [0; 15] && bytes[15] > 1
        })
    }),
    pure("is_ipv4_mapped", 1, 1, derive_predicate, |call| {
        bytes_predicate(call, |bytes| bytes[..10] == [0; 10] && bytes[10..12] == [0xff, 0xff])
    }),
];

fn derive_predicate(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::boolean().nullable_if(derivation.any_nullable()))
}

/// NULL with the warning that names the argument as it was written.
fn wrong_value(call: &mut Call<'_>, kind: &str) -> Value {
    let shown = call.expression(0).to_string();
    let name = call.name();
    call.warn(sql_error!(ER_WRONG_VALUE_FOR_TYPE, kind, shown, name));
    Value::Null
}

fn inet_aton(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    match parse_number_groups(&text) {
        Some(number) => Ok(Value::UInt(number)),
        None => Ok(wrong_value(call, "string")),
    }
}

/// One to four numbers below 256 with points between; the last stands for the last byte, whatever their count.
fn parse_number_groups(text: &str) -> Option<u64> {
    let mut groups = Vec::with_capacity(4);
    for group in text.split('.') {
        if group.is_empty() || groups.len() == 4 || !group.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        groups.push(u64::from(group.parse::<u8>().ok()?));
    }
    let (last, leading) = groups.split_last()?;
    let high = leading.iter().enumerate().fold(0, |number, (at, group)| number | group << (24 - 8 * at));
    Some(high | last)
}

fn inet_ntoa(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(number) = call.wide_integer(0)? else { return Ok(Value::Null) };
    let Ok(number) = u32::try_from(number) else { return Ok(wrong_value(call, "integer")) };
    let [a, b, c, d] = number.to_be_bytes();
    Ok(call.text_result(&format!("{a}.{b}.{c}.{d}")))
}

fn inet6_aton(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    if let Some(bytes) = parse_ipv4(&text) {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    match parse_ipv6(&text) {
        Some(bytes) => Ok(Value::Bytes(bytes.to_vec())),
        None => Ok(wrong_value(call, "string")),
    }
}

fn inet6_ntoa(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(bytes) = call.text(0)? else { return Ok(Value::Null) };
    let is_binary = call.text_collation(0) == charset::CollationId::BINARY;
    if is_binary {
        if let Ok([a, b, c, d]) = <[u8; 4]>::try_from(&*bytes) {
            return Ok(call.text_result(&format!("{a}.{b}.{c}.{d}")));
        }
        if let Ok(bytes) = <[u8; 16]>::try_from(&*bytes) {
            return Ok(call.text_result(&print_ipv6(&bytes)));
        }
    }
    Ok(wrong_value(call, "string"))
}

/// Four groups of one to three digits.
fn parse_ipv4(text: &str) -> Option<[u8; 4]> {
    let mut bytes = [0; 4];
    let mut count = 0;
    for group in text.split('.') {
        let digits_only = group.bytes().all(|byte| byte.is_ascii_digit());
        if count == 4 || !(1..=3).contains(&group.len()) || !digits_only {
            return None;
        }
        bytes[count] = u8::try_from(group.parse::<u16>().ok()?).ok()?;
        count += 1;
    }
    (count == 4).then_some(bytes)
}

/// Groups of hexadecimal digits; the last two may be an IPv4 address.
fn parse_ipv6(text: &str) -> Option<[u8; 16]> {
    let Some((head, tail)) = text.rsplit_once(':').filter(|(_, tail)| tail.contains('.')) else {
        return text.parse::<Ipv6Addr>().ok().map(|address| address.octets());
    };
    let [a, b, c, d] = parse_ipv4(tail)?;
    let whole = format!("{head}:{:x}:{:x}", u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    whole.parse::<Ipv6Addr>().ok().map(|address| address.octets())
}

/// The longest run of zero groups (the first of equals) is left out; compatible and mapped addresses end as IPv4.
fn print_ipv6(bytes: &[u8; 16]) -> String {
    let mut groups = [0u16; 8];
    for (group, pair) in groups.iter_mut().zip(bytes.chunks_exact(2)) {
        *group = u16::from_be_bytes([pair[0], pair[1]]);
    }
    let gap = longest_zero_run(&groups);
    let [.., a, b, c, d] = *bytes;
    if gap == (0, 6) {
        return format!("::{a}.{b}.{c}.{d}");
    }
    if gap == (0, 5) && groups[5] == 0xffff {
        return format!("::ffff:{a}.{b}.{c}.{d}");
    }
    let mut text = String::new();
    let mut at = 0;
    while at < groups.len() {
        if gap.1 > 1 && at == gap.0 {
            text.push_str("::");
            at += gap.1;
            continue;
        }
        if at > 0 && !text.ends_with(':') {
            text.push(':');
        }
        let written = write!(text, "{:x}", groups[at]);
        debug_assert!(written.is_ok());
        at += 1;
    }
    text
}

/// Start and length.
fn longest_zero_run(groups: &[u16; 8]) -> (usize, usize) {
    let mut longest = (0, 0);
    let mut at = 0;
    while at < groups.len() {
        let run = groups[at..].iter().take_while(|group| **group == 0).count();
        if run > longest.1 {
            longest = (at, run);
        }
        at += run.max(1);
    }
    longest
}

/// A number is no address, not even NULL.
fn text_predicate(call: &mut Call<'_>, test: fn(&str) -> bool) -> SqlResult<Value> {
    if matches!(call.argument(0).class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double) {
        return Ok(Value::Int(0));
    }
    Ok(call.utf8(0)?.map_or(Value::Null, |text| Value::Int(i64::from(test(&text)))))
}

fn bytes_predicate(call: &mut Call<'_>, test: fn(&[u8; 16]) -> bool) -> SqlResult<Value> {
    let Some(bytes) = call.text(0)? else { return Ok(Value::Null) };
    let found = <&[u8; 16]>::try_from(&*bytes).is_ok_and(test);
    Ok(Value::Int(i64::from(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_groups_as_mysql_counts_them() {
        let golden = [
            ("1.2.3.4", Some(16_909_060)),
            ("1.2", Some(16_777_218)),
            ("1.2.3", Some(16_908_291)),
            ("127", Some(127)),
        ];
        for (text, expected) in golden {
            assert_eq!(parse_number_groups(text), expected, "{text}");
        }
        for text in ["256.1.1.1", "", "1.2.3.4.5", "1.", "a"] {
            assert_eq!(parse_number_groups(text), None, "{text}");
        }
    }

    #[test]
    fn ipv6_round_trip() {
        let golden = [
            "fdfe::5a55:caff:fefa:9089",
            "::ffff:1.2.3.4",
            "::1.2.3.4",
            "::",
            "::1",
            "1:0:0:2::3",
            "1:2:3:4:5:6:7:8",
            "1::",
        ];
        for text in golden {
            assert_eq!(print_ipv6(&parse_ipv6(text).unwrap()), text);
        }
        for text in ["1::2::3", "1:2:3:4:5:6:7:8:9", "g::", "00001::", "1.2.3.4", "x"] {
            assert_eq!(parse_ipv6(text), None, "{text}");
        }
        assert_eq!(parse_ipv4("01.2.3.004"), Some([1, 2, 3, 4]));
        assert_eq!(parse_ipv4("1.2.3.0004"), None);
    }
}
