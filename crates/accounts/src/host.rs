//! Host patterns of accounts: names and addresses with `%` and `_`, netmasks and CIDR.

use crate::ClientHost;
use std::net::{IpAddr, Ipv4Addr};

/// Whether a client at `host` matches the pattern of an account.
pub fn matches(pattern: &str, host: &ClientHost) -> bool {
    if pattern.is_empty() || pattern == "%" {
        return true;
    }
    if let Some((address, mask)) = pattern.split_once('/') {
        return matches_mask(address, mask, host.address);
    }
    let name_matches = host.name.as_deref().is_some_and(|name| values::print::like(name, pattern));
    name_matches || host.address.is_some_and(|address| values::print::like(&address.to_string(), pattern))
}

fn matches_mask(address: &str, mask: &str, client: Option<IpAddr>) -> bool {
    match (address.parse::<IpAddr>(), client) {
        (Ok(IpAddr::V4(network)), Some(IpAddr::V4(client))) => {
            let bits = mask.parse::<u32>().ok().filter(|bits| *bits <= 32);
            let mask = match bits {
                Some(bits) => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
                None => match mask.parse::<Ipv4Addr>() {
                    Ok(mask) => u32::from(mask),
                    Err(_) => return false,
                },
            };
            u32::from(client) & mask == u32::from(network) & mask
        }
        (Ok(IpAddr::V6(network)), Some(IpAddr::V6(client))) => {
            let Some(bits) = mask.parse::<u32>().ok().filter(|bits| *bits <= 128) else { return false };
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            u128::from(client) & mask == u128::from(network) & mask
        }
        _ => false,
    }
}

/// How specific a pattern is: accounts are tried from the smallest rank on. Literal hosts and addresses come first,
/// then masks with longer ones first, then patterns by the place of their first wildcard, `%` and empty last.
pub fn rank(pattern: &str) -> (u8, u32) {
    if pattern.is_empty() {
        return (4, 0);
    }
    if pattern == "%" {
        return (3, 0);
    }
    if let Some((_, mask)) = pattern.split_once('/') {
        let bits = mask
            .parse::<u32>()
            .ok()
            .or_else(|| mask.parse::<Ipv4Addr>().ok().map(|mask| u32::from(mask).count_ones()))
            .unwrap_or(0);
        return (1, 128 - bits.min(128));
    }
    match pattern.find(['%', '_']) {
        None => (0, 0),
        Some(at) => (2, u32::MAX - at as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str, name: Option<&str>) -> ClientHost {
        ClientHost { address: address.parse().ok(), port: 1, name: name.map(str::to_owned) }
    }

    #[test]
    fn patterns() {
        assert!(matches("%", &at("10.0.0.1", None)));
        assert!(matches("192.168.1.%", &at("192.168.1.7", None)));
        assert!(!matches("192.168.1.%", &at("192.168.2.7", None)));
        assert!(matches("192.168.1.0/255.255.255.0", &at("192.168.1.9", None)));
        assert!(matches("10.0.0.0/8", &at("10.200.1.1", None)));
        assert!(!matches("10.0.0.0/8", &at("11.0.0.1", None)));
        assert!(matches("localhost", &ClientHost::local()));
        assert!(matches("%.example.com", &at("1.2.3.4", Some("db.EXAMPLE.com"))));
        assert!(matches("2001:db8::/32", &at("2001:db8::7", None)));
    }

    #[test]
    fn order() {
        let mut patterns = ["%", "", "10.0.0.0/8", "localhost", "192.168.%", "192.168.1.%", "10.1.0.0/16"];
        patterns.sort_by_key(|pattern| rank(pattern));
        assert_eq!(patterns, ["localhost", "10.1.0.0/16", "10.0.0.0/8", "192.168.1.%", "192.168.%", "%", ""]);
    }
}
