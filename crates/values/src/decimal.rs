//! DECIMAL(M,D): exact numbers of up to 65 digits. Main type: [`Decimal`].

/// An exact decimal number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// Digits after the point.
    scale: u8,
    /// Base 10^9 words of the unscaled magnitude, least significant first.
    words: [u32; 9],
}

impl Decimal {
    /// Zero without fractional digits.
    pub const ZERO: Decimal = Decimal { negative: false, scale: 0, words: [0; 9] };
}
