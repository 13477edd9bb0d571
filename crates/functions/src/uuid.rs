//! UUIDs as texts and bytes: UUID, IS_UUID, UUID_TO_BIN, BIN_TO_UUID.

/// Units of 100 ns from the start of the Gregorian calendar (15 October 1582) to 1970.
const GREGORIAN_OFFSET: u64 = 0x01B2_1DD2_1381_4000;

/// The 100 ns units of an instant, in microseconds since 1970.
pub fn ticks(now_microseconds: i64) -> u64 {
    (now_microseconds as u64).wrapping_mul(10).wrapping_add(GREGORIAN_OFFSET)
}

/// Makes eight random bytes the clock sequence (2 bytes) and node (6 bytes) of RFC 9562: the variant bits, and the multicast
/// bit of a node that is no network card.
pub fn random_node(mut node: [u8; 8]) -> [u8; 8] {
    node[0] = node[0] & 0x3f | 0x80;
    node[2] |= 1;
    node
}

/// The version 1 UUID of a time.
pub fn assemble(time: u64, node: [u8; 8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(time as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((time >> 48) as u16 & 0x0fff | 0x1000).to_be_bytes());
    bytes[8..].copy_from_slice(&node);
    bytes
}

/// The 16 bytes of 32 hexadecimal digits, with hyphens at their four places or none, in braces or not.
pub fn parse(text: &[u8]) -> Option<[u8; 16]> {
    let inside = match text {
        [b'{', inside @ .., b'}'] if inside.len() == 36 => inside,
        other => other,
    };
    let hyphens = match inside.len() {
        36 => true,
        32 => false,
        _ => return None,
    };
    let mut bytes = [0u8; 16];
    let mut digits = 0;
    for (at, byte) in inside.iter().enumerate() {
        if hyphens && matches!(at, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = (*byte as char).to_digit(16)? as u8;
        bytes[digits / 2] = bytes[digits / 2] << 4 | digit;
        digits += 1;
    }
    Some(bytes)
}

/// 32 digits with hyphens.
pub fn print(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// The bytes with the high part of the time in front, so that keys grow.
pub fn time_first(bytes: &[u8; 16]) -> [u8; 16] {
    let mut out = *bytes;
    out[..2].copy_from_slice(&bytes[6..8]);
    out[2..4].copy_from_slice(&bytes[4..6]);
    out[4..8].copy_from_slice(&bytes[..4]);
    out
}

/// The bytes of [`time_first`] in the order of a UUID.
pub fn time_last(bytes: &[u8; 16]) -> [u8; 16] {
    let mut out = *bytes;
    out[..4].copy_from_slice(&bytes[4..8]);
    out[4..6].copy_from_slice(&bytes[2..4]);
    out[6..8].copy_from_slice(&bytes[..2]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms() {
        let text = "6ccd780c-baba-1026-9564-5b8c656024db";
        let bytes = parse(text.as_bytes()).unwrap();
        assert_eq!(print(&bytes), text);
        assert_eq!(parse(b"6ccd780cbaba102695645b8c656024db"), Some(bytes));
        assert_eq!(parse(b"{6ccd780c-baba-1026-9564-5b8c656024db}"), Some(bytes));
        for wrong in ["", "x", "{6ccd780cbaba102695645b8c656024db}", "6ccd780c-baba-1026-95645-b8c656024db"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn swapped_time_leads() {
        let bytes = parse(b"6ccd780c-baba-1026-9564-5b8c656024db").unwrap();
        assert_eq!(print(&time_first(&bytes)), "1026baba-6ccd-780c-9564-5b8c656024db");
        assert_eq!(time_last(&time_first(&bytes)), bytes);
    }

    #[test]
    fn version_and_variant() {
        let text = print(&assemble(0x0123_4567_89ab_cdef, [0x80, 1, 1, 2, 3, 4, 5, 6]));
        assert_eq!(text, "89abcdef-4567-1123-8001-010203040506");
    }
}
