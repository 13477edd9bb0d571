//! Searches: LOCATE, INSTR, POSITION, FIND_IN_SET.

use crate::pieces::{Interrupt, KILL_LOOK_PLACES};
use charset::{Collation, CollationId, Stopped};
use errors::{SqlResult, sql_error};

/// The place of a text in another, from 1 on, behind so many characters; 0 where it is not.
pub fn locate(
    wanted: &[u8],
    text: &[u8],
    skipped_characters: usize,
    collation: CollationId,
    interrupt: &dyn Interrupt,
) -> SqlResult<i64> {
    let charset = collation.charset();
    if skipped_characters > charset.character_count(text) {
        return Ok(0);
    }
    if wanted.is_empty() {
        return Ok(skipped_characters as i64 + 1);
    }
    let from = charset.offset(text, skipped_characters);
    let mut keep_on = || interrupt.check_killed().is_ok();
    let found = collation.get().find(text, wanted, from, &mut keep_on);
    let found = found.map_err(|Stopped| sql_error!(ER_QUERY_INTERRUPTED))?;
    Ok(found.map_or(0, |(at, _)| charset.character_count(&text[..at]) as i64 + 1))
}

/// The place of a text among those of a list with commas between, from 1 on; 0 where it is not.
pub fn find_in_set(
    wanted: &[u8],
    list: &[u8],
    collation: &Collation,
    interrupt: &dyn Interrupt,
) -> SqlResult<i64> {
    let mut comma = Vec::with_capacity(size_of::<u32>());
    if !collation.charset().push(u32::from(b','), &mut comma) {
        comma.push(b',');
    }
    if list.is_empty() || members(wanted, &comma).nth(1).is_some() {
        return Ok(0);
    }
    for (index, member) in members(list, &comma).enumerate() {
        if collation.equal(member, wanted) {
            return Ok(index as i64 + 1);
        }
        if (index as u64 + 1).is_multiple_of(KILL_LOOK_PLACES) {
            interrupt.check_killed()?;
        }
    }
    Ok(0)
}

/// What stands between the commas of a list. No character that is longer than a comma has one in a place where one may stand.
fn members<'t>(list: &'t [u8], comma: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(place) = text.chunks_exact(comma.len()).position(|unit| unit == comma) else {
            return Some(text);
        };
        let end = place * comma.len();
        rest = Some(&text[end + comma.len()..]);
        Some(&text[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    const UTF8: CollationId = CollationId::UTF8MB4_0900_AI_CI;

    #[test]
    fn places_count_characters_and_compare_by_collation() {
        let locate = |wanted: &str, skipped| {
            locate(wanted.as_bytes(), "\u{e4}bAb".as_bytes(), skipped, UTF8, &Never).unwrap()
        };
        assert_eq!((locate("B", 0), locate("b", 2), locate("", 4), locate("", 5)), (2, 4, 5, 0));
        assert_eq!((locate("a", 0), locate("a", 1), locate("c", 0)), (1, 3, 0));
    }

    #[test]
    fn members_of_lists() {
        let find = |wanted: &str, list: &str| {
            find_in_set(wanted.as_bytes(), list.as_bytes(), UTF8.get(), &Never).unwrap()
        };
        assert_eq!((find("B", "a,b"), find("", "a,"), find("", ""), find("a,b", "a,b")), (2, 2, 0, 0));
    }
}
