//! References round trip, and bytes that are none are refused.

use super::*;

#[test]
fn references_round_trip() {
    let reference =
        LobReference { writer: TransactionId(0x0102_0304_0506), sequence: 0xFFFF_FFFE, length: u64::MAX - 1 };
    let bytes = reference.encode();
    assert_eq!(LobReference::decode(&bytes), Some(reference));
    for at in [10, 13, 22, 23] {
        let mut damaged = bytes;
        damaged[at] = 1;
        assert_eq!(LobReference::decode(&damaged), None);
    }
}
