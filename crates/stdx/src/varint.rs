//! Numbers of variable length: seven bits a byte, least significant first, the top bit says "more follows".

/// The longest encoding of a 64-bit number, in bytes.
pub const VARINT_BYTES_MAX: usize = 10;

/// Appends `number`.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7F) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number from the front of `bytes` and moves `bytes` behind it. None if it is cut off or too long.
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(VARINT_BYTES_MAX) {
        let part = u64::from(byte & 0x7F);
        let shift = 7 * index as u32;
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, number);
            assert!(out.len() <= VARINT_BYTES_MAX);
            out.push(9);
            let mut bytes = out.as_slice();
            assert_eq!(take_varint(&mut bytes), Some(number));
            assert_eq!(bytes, [9]);
        }
    }

    #[test]
    fn damaged_numbers_are_refused() {
        assert_eq!(take_varint(&mut [].as_slice()), None);
        assert_eq!(take_varint(&mut [0x80].as_slice()), None);
        assert_eq!(take_varint(&mut [0xFF; 11].as_slice()), None);
        let too_large = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2];
        assert_eq!(take_varint(&mut too_large.as_slice()), None);
    }
}
