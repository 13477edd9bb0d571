//! What stands behind a part of a pattern and says how often it may be there.

use crate::parser::{Parser, Sequence};
use crate::tree::{Greed, Node};
use errors::{SqlResult, sql_error};

/// Times in an interval. Error 4007 beyond.
const TIMES_MAX: u32 = 0xff_ffff;

impl Parser<'_> {
    /// What `*`, `+`, `?` and `{..}` make of what they stand behind; a comment may be between.
    pub fn quantifier(&mut self, sequence: &mut Sequence) -> SqlResult<()> {
        while self.scanner.is('(') && self.scanner.goes_on_with("?#") {
            self.comment()?;
        }
        let current = self.scanner.current;
        let (least, most) = match current.character.filter(|_| !current.quoted) {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => self.interval()?,
            _ => return Ok(()),
        };
        self.scanner.advance()?;
        let greed = match () {
            () if self.scanner.take('?')? => Greed::Lazy,
            () if self.scanner.take('+')? => Greed::Possessive,
            () => Greed::Greedy,
        };
        let interval = current.character == Some('{');
        if interval {
            check_interval(least, most)?;
        }
        let node = Box::new(sequence.last(self.flags));
        sequence.nodes.push(Node::Repeat { node, least, most, greed, interval });
        Ok(())
    }

    /// The numbers in braces; the closing one is the current character then. Errors 3692, 4007.
    fn interval(&mut self) -> SqlResult<(u32, Option<u32>)> {
        let bad_interval = || sql_error!(ER_REGEXP_BAD_INTERVAL);
        self.scanner.advance()?;
        let least = self.number()?.ok_or_else(bad_interval)?;
        if self.scanner.is('}') {
            return Ok((least, Some(least)));
        }
        if !self.scanner.take(',')? {
            return Err(bad_interval());
        }
        let most = self.number()?;
        if self.scanner.is('}') { Ok((least, most)) } else { Err(bad_interval()) }
    }

    fn number(&mut self) -> SqlResult<Option<u32>> {
        let mut number: Option<u32> = None;
        loop {
            let scanned = self.scanner.current;
            let digit = scanned.character.filter(|_| !scanned.quoted).and_then(|digit| digit.to_digit(10));
            let Some(digit) = digit else { return Ok(number) };
            let longer = u64::from(number.unwrap_or(0)) * 10 + u64::from(digit);
            match i32::try_from(longer) {
                Ok(longer) => number = Some(longer as u32),
                Err(_) => return Err(sql_error!(ER_REGEX_NUMBER_TOO_BIG)),
            }
            self.scanner.advance()?;
        }
    }
}

/// Errors 4007 and 3693.
fn check_interval(least: u32, most: Option<u32>) -> SqlResult<()> {
    if least > TIMES_MAX || most.is_some_and(|most| most > TIMES_MAX) {
        return Err(sql_error!(ER_REGEX_NUMBER_TOO_BIG));
    }
    if most.is_some_and(|most| most < least) {
        return Err(sql_error!(ER_REGEXP_MAX_LT_MIN));
    }
    Ok(())
}
