//! CRC-32C (Castagnoli), with the processor's instruction where it has one.

/// The checksum of `bytes`.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}

/// The checksum of the bytes that gave `checksum`, followed by `bytes`.
#[inline]
pub fn crc32c_append(checksum: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(checksum, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8A91_36AA);
    }

    #[test]
    fn appending_equals_the_whole() {
        let bytes: Vec<u8> = (0..=255).collect();
        for cut in [0, 1, 7, 8, 100, 256] {
            assert_eq!(crc32c_append(crc32c(&bytes[..cut]), &bytes[cut..]), crc32c(&bytes));
        }
    }
}
