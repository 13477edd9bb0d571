//! What others see of statements that have passwords: the text without them. Main function: [`hidden`].

use parser::ast::{SetItem, Statement};

/// What others see of a statement that may have a password in its text; None of others.
#[inline]
pub(crate) fn hidden(statement: &Statement, text: &[u8]) -> Option<Vec<u8>> {
    let may_have_one = match statement {
        Statement::CreateUser(_) | Statement::AlterUser(_) => true,
        Statement::Set(items) => items.iter().any(|item| matches!(item, SetItem::Password(_))),
        _ => false,
    };
    may_have_one.then(|| without_secrets(text))
}

/// The text with `<secret>` for each string that is not plainly something else: a name, a plugin, a comment, a part of a certificate.
fn without_secrets(text: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        if matches!(byte, b'\'' | b'"') {
            let end = end_of_string(text, at);
            if is_plain(&shown) {
                shown.extend_from_slice(&text[at..end])
            } else {
                shown.extend_from_slice(b"<secret>")
            }
            at = end;
        } else {
            shown.push(*byte);
            at += 1;
        }
    }
    shown
}

/// Where a string that begins at `start` ends; one that is not closed goes to the text's end.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let quote = text[start];
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            byte if byte != quote => at += 1,
            _ if text.get(at + 1) == Some(&quote) => at += 2,
            _ => return at + 1,
        }
    }
    text.len()
}

/// Whether a string behind this text is no password.
fn is_plain(before: &[u8]) -> bool {
    const PLAIN: [&[u8]; 10] = [
        b"USER",
        b"EXISTS",
        b"FOR",
        b"WITH",
        b"COMMENT",
        b"ATTRIBUTE",
        b"ISSUER",
        b"SUBJECT",
        b"CIPHER",
        b"ROLE",
    ];
    let before = before.trim_ascii_end();
    let word_bytes =
        before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let word = &before[before.len() - word_bytes..];
    matches!(before.last(), Some(b'@' | b',')) || PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        String::from_utf8(without_secrets(text.as_bytes())).unwrap()
    }

    #[test]
    fn passwords_are_hidden_and_names_are_not() {
        let cases = [
            ("CREATE USER 'a'@'%' IDENTIFIED BY 'S3cret'", "CREATE USER 'a'@'%' IDENTIFIED BY <secret>"),
            (
                "create user if not exists 'a' identified by 'it''s', \"b\"@'h' identified by \"x\\\"y\" comment 'c'",
                "create user if not exists 'a' identified by <secret>, \"b\"@'h' identified by <secret> comment 'c'",
            ),
            (
                "ALTER USER USER() IDENTIFIED BY 'n' REPLACE 'o'",
                "ALTER USER USER() IDENTIFIED BY <secret> REPLACE <secret>",
            ),
            (
                "CREATE USER u IDENTIFIED WITH 'caching_sha2_password' AS '$A$'",
                "CREATE USER u IDENTIFIED WITH 'caching_sha2_password' AS <secret>",
            ),
            ("SET PASSWORD FOR 'u'@'h' = 'n'", "SET PASSWORD FOR 'u'@'h' = <secret>"),
            ("SET PASSWORD='n", "SET PASSWORD=<secret>"),
            ("ALTER USER u IDENTIFIED BY /* x */ 'n\\", "ALTER USER u IDENTIFIED BY /* x */ <secret>"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected);
        }
    }
}
