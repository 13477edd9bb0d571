//! FORMAT_BYTES and FORMAT_PICO_TIME: an amount in the greatest unit that it reaches.

/// A scale of units, each with the amount from which on it is used.
#[derive(Debug)]
pub struct Scale {
    base: &'static str,
    /// Characters of a whole number of base units.
    base_width: usize,
    units: &'static [(f64, &'static str)],
}

const KIBI: f64 = 1024.0;

/// Bytes, in powers of 1024.
pub static BYTES: Scale = Scale {
    base: "bytes",
    base_width: 4,
    units: &[
        (KIBI, "KiB"),
        (KIBI * KIBI, "MiB"),
        (KIBI * KIBI * KIBI, "GiB"),
        (KIBI * KIBI * KIBI * KIBI, "TiB"),
        (KIBI * KIBI * KIBI * KIBI * KIBI, "PiB"),
        (KIBI * KIBI * KIBI * KIBI * KIBI * KIBI, "EiB"),
    ],
};

/// Picoseconds up to days.
pub static PICOSECONDS: Scale = Scale {
    base: "ps",
    base_width: 3,
    units: &[
        (1e3, "ns"),
        (1e6, "us"),
        (1e9, "ms"),
        (1e12, "s"),
        (60e12, "min"),
        (3600e12, "h"),
        (86_400e12, "d"),
    ],
};

/// Amounts of a unit from which on they are shown with an exponent.
const EXPONENT_MIN: f64 = 100_000.0;

/// An amount with two decimals and its unit.
pub fn in_units(amount: f64, scale: &Scale) -> String {
    let unit = scale.units.iter().rev().find(|(least, _)| amount.abs() >= *least);
    let Some((least, name)) = unit else {
        return format!("{:>width$} {}", amount as i64, scale.base, width = scale.base_width);
    };
    let shown = amount / least;
    if shown.abs() < EXPONENT_MIN {
        return format!("{shown:.2} {name}");
    }
    let exponent = shown.abs().log10().floor();
    format!("{:.2}e+{exponent:02} {name}", shown / 10f64.powf(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_as_mysql_shows_them() {
        let golden = [
            (512.0, " 512 bytes"),
            (1024.0, "1.00 KiB"),
            (18_446_744_073_709_551_615.0, "16.00 EiB"),
            (-5_000_000.0, "-4.77 MiB"),
        ];
        for (amount, expected) in golden {
            assert_eq!(in_units(amount, &BYTES), expected);
        }
        let golden = [(3501.0, "3.50 ns"), (188_732_396_662_000.0, "3.15 min"), (1.0, "  1 ps")];
        for (amount, expected) in golden {
            assert_eq!(in_units(amount, &PICOSECONDS), expected);
        }
    }
}
