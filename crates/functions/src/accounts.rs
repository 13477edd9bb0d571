//! Lists of accounts as CURRENT_USER_IN and CURRENT_ROLE_IN read them: names with or without quotes, `@`, hosts. Main type:
//! [`AccountText`]. Main function: [`for_each`].

use crate::pieces::Interrupt;
use errors::SqlResult;

/// An account of a list. A host that is not written is `%`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountText {
    user: String,
    /// In lower case.
    host: String,
}

impl AccountText {
    /// The account that CURRENT_USER() shows, without quotes.
    pub fn of_current(text: &str) -> AccountText {
        let (user, host) = text.rsplit_once('@').unwrap_or((text, "%"));
        AccountText { user: user.to_owned(), host: host.to_ascii_lowercase() }
    }
}

/// Accounts between two looks at KILL.
const KILL_LOOK_ACCOUNTS: usize = 4096;

/// Calls `work` with each account of the list. What is no account is left out.
pub fn for_each(list: &str, interrupt: &dyn Interrupt, mut work: impl FnMut(AccountText)) -> SqlResult<()> {
    let mut rest = list;
    for index in 0usize.. {
        if index > 0 && index.is_multiple_of(KILL_LOOK_ACCOUNTS) {
            interrupt.check_killed()?;
        }
        let Some(account) = account(&mut rest) else { return Ok(()) };
        if !account.user.is_empty() {
            work(account);
        }
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => return Ok(()),
        }
    }
    Ok(())
}

/// Takes an account off the text, with the blanks around it; None where a quote is not closed.
fn account(rest: &mut &str) -> Option<AccountText> {
    let user = part(rest, &['@', ','])?;
    let host = match rest.strip_prefix('@') {
        Some(after) => {
            *rest = after;
            part(rest, &[','])?.to_ascii_lowercase()
        }
        None => "%".to_owned(),
    };
    Some(AccountText { user, host })
}

/// Takes a name, quoted or not, off the text, up to one of those characters.
fn part(rest: &mut &str, ends: &[char]) -> Option<String> {
    let text = rest.trim_start();
    let first = text.chars().next();
    let Some(quote) = first.filter(|first| matches!(first, '`' | '"' | '\'')) else {
        let end = text.find(ends).unwrap_or(text.len());
        *rest = &text[end..];
        return Some(text[..end].trim_end().to_owned());
    };
    let mut name = String::new();
    let mut inside = text[1..].char_indices().peekable();
    while let Some((at, character)) = inside.next() {
        if character != quote {
            name.push(character);
            continue;
        }
        // Twice the quote is one in the name.
        if inside.next_if(|(_, next)| *next == quote).is_some() {
            name.push(quote);
            continue;
        }
        let behind = &text[1 + at + 1..];
        let end = behind.find(ends).unwrap_or(behind.len());
        *rest = &behind[end..];
        return Some(name);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::tests::Never;

    fn listed(list: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for_each(list, &Never, |account| found.push((account.user, account.host))).unwrap();
        found
    }

    fn pair(user: &str, host: &str) -> (String, String) {
        (user.to_owned(), host.to_owned())
    }

    #[test]
    fn names_hosts_and_quotes() {
        assert_eq!(
            listed("a, `b,c`@'D' ,\"e\"\"f\" @ g"),
            [pair("a", "%"), pair("b,c", "d"), pair("e\"f", "g")]
        );
        assert_eq!(listed(" , a@b"), [pair("a", "b")]);
        assert_eq!(listed("a@b,`c"), [pair("a", "b")]);
        assert_eq!(listed(""), []);
    }
}
