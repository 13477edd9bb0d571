//! Network addresses as texts, numbers and bytes: INET_ATON, INET_NTOA, INET6_ATON, INET6_NTOA and the predicates
//! IS_IPV4, IS_IPV6 and their kin.

use std::fmt::Write as _;
use std::net::Ipv6Addr;

/// One to four numbers below 256 with points between; the last stands for the last byte, whatever their count.
pub fn parse_number_groups(text: &str) -> Option<u64> {
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

/// Four bytes as numbers with points between.
pub fn print_ipv4([a, b, c, d]: [u8; 4]) -> String {
    format!("{a}.{b}.{c}.{d}")
}

/// Whether an address is one of IPv4 with zeros before it, but neither `::` nor `::1`.
pub fn is_ipv4_compatible(bytes: &[u8; 16]) -> bool {
    bytes[..15] != [0; 15] && bytes[..12] == [0; 12] || bytes[..15] == [0; 15] && bytes[15] > 1
}

/// Whether an address is one of IPv4 behind `::ffff:`.
pub fn is_ipv4_mapped(bytes: &[u8; 16]) -> bool {
    bytes[..10] == [0; 10] && bytes[10..12] == [0xff, 0xff]
}

/// Four groups of one to three digits.
pub fn parse_ipv4(text: &str) -> Option<[u8; 4]> {
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
pub fn parse_ipv6(text: &str) -> Option<[u8; 16]> {
    let Some((head, tail)) = text.rsplit_once(':').filter(|(_, tail)| tail.contains('.')) else {
        return text.parse::<Ipv6Addr>().ok().map(|address| address.octets());
    };
    let [a, b, c, d] = parse_ipv4(tail)?;
    let whole = format!("{head}:{:x}:{:x}", u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    whole.parse::<Ipv6Addr>().ok().map(|address| address.octets())
}

/// The longest run of zero groups (the first of equals) is left out; compatible and mapped addresses end as IPv4.
pub fn print_ipv6(bytes: &[u8; 16]) -> String {
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
