//! Locales of lc_time_names and FORMAT: names of days and months, how numbers are written. Main type: [`Locale`].
//! The table is `data/locales.tsv`; its order gives the numbers by which SET may name a locale.

use std::sync::LazyLock;

/// What differs between languages and countries in the text of dates and numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct Locale {
    /// e.g. `ja_JP`.
    pub name: &'static str,
    /// Between the whole part of a number and its decimals.
    decimal_point: char,
    /// Between groups of digits; None where digits are not grouped.
    separator: Option<char>,
    /// How many digits the groups have, from the decimal point on; the last number stands for all that follow.
    groups: Vec<usize>,
    /// Names of weekdays, Monday first.
    pub days: Vec<&'static str>,
    /// Names of months.
    pub months: Vec<&'static str>,
    /// Short names of weekdays, Monday first.
    pub short_days: Vec<&'static str>,
    /// Short names of months.
    pub short_months: Vec<&'static str>,
}

static LOCALES: LazyLock<Vec<Locale>> = LazyLock::new(|| {
    let lines = include_str!("../data/locales.tsv").lines();
    lines.filter(|line| !line.starts_with('#')).filter_map(Locale::read).collect()
});

/// The locale of that name, in any case.
pub fn find(name: &str) -> Option<&'static Locale> {
    LOCALES.iter().find(|locale| locale.name.eq_ignore_ascii_case(name))
}

/// The locale of that number.
pub fn numbered(number: usize) -> Option<&'static Locale> {
    LOCALES.get(number)
}

/// `en_US`, the default.
pub fn english() -> &'static Locale {
    &LOCALES[0]
}

impl Locale {
    fn read(line: &'static str) -> Option<Locale> {
        let mut fields = line.split('\t');
        let name = fields.next()?;
        let decimal_point = fields.next()?.chars().next()?;
        let separator = match fields.next()? {
            "\\0" => Some('\0'),
            text => text.chars().next(),
        };
        let groups = fields.next()?.split(',').filter_map(|digits| digits.parse().ok()).collect();
        let mut names = || Some(fields.next()?.split('|').collect());
        Some(Locale {
            name,
            decimal_point,
            separator,
            groups,
            days: names()?,
            months: names()?,
            short_days: names()?,
            short_months: names()?,
        })
    }

    /// A number like `-1234.50` as it is written here.
    pub fn number(&self, text: &str) -> String {
        let (sign, number) = text.strip_prefix('-').map_or(("", text), |number| ("-", number));
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let mut out = String::from(sign);
        let ends = self.group_ends(whole.len());
        for (at, digit) in whole.chars().enumerate() {
            if let Some(separator) = self.separator.filter(|_| ends.contains(&at)) {
                out.push(separator);
            }
            out.push(digit);
        }
        if !decimals.is_empty() {
            out.push(self.decimal_point);
            out.push_str(decimals);
        }
        out
    }

    /// Before which of that many digits a group ends.
    fn group_ends(&self, digits: usize) -> Vec<usize> {
        let mut sizes = self.groups.iter().copied();
        let mut size = sizes.next().unwrap_or(digits);
        let (mut ends, mut left) = (Vec::new(), digits);
        while left > size {
            left -= size;
            ends.push(left);
            size = sizes.next().unwrap_or(size);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_locale_is_whole() {
        assert_eq!(LOCALES.len(), 111);
        for locale in LOCALES.iter() {
            assert_eq!((locale.days.len(), locale.short_days.len()), (7, 7), "{}", locale.name);
            assert_eq!((locale.months.len(), locale.short_months.len()), (12, 12), "{}", locale.name);
            assert_eq!(locale.separator.is_some(), !locale.groups.is_empty(), "{}", locale.name);
            assert_eq!(find(&locale.name.to_uppercase()), Some(locale));
        }
        assert_eq!(english().name, "en_US");
    }

    #[test]
    fn numbers_are_grouped_as_in_the_country() {
        let written = |name: &str, text: &str| find(name).unwrap().number(text);
        assert_eq!(written("en_US", "-1234567.50"), "-1,234,567.50");
        assert_eq!(written("en_US", "123"), "123");
        assert_eq!(written("de_CH", "1234.5"), "1'234.5");
        assert_eq!(written("en_IN", "123456789012"), "1,23,45,67,89,012");
        assert_eq!(written("pt_PT", "-12345.678"), "-12345,678");
        assert_eq!(written("sv_SE", "1000"), "1 000");
    }
}
