//! The file of `--defaults-file`: keys and values of the group [mysql-proxy].
#![allow(clippy::disallowed_methods)]

use std::os::unix::fs::PermissionsExt;

const GROUP: &str = "mysql-proxy";
/// Bits of the mode that let others in.
const INSECURE: u32 = 0o117;

/// Reads the group's keys. The file holds passwords: others must not be able to read it.
pub(crate) fn read(path: &str) -> Result<Vec<(String, String)>, String> {
    let about = std::fs::metadata(path).map_err(|error| format!("{path}: {error}"))?;
    if about.permissions().mode() & INSECURE != 0 {
        return Err(format!("permissions of {path} aren't secure (0660 or stricter required)"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    parse(&text).map_err(|why| format!("{path}: {why}"))
}

fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut is_ours = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(group) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            is_ours = group.trim() == GROUP;
        } else if let Some((key, value)) = line.split_once('=') {
            if is_ours {
                found.push((key.trim().to_owned(), value.trim().to_owned()));
            }
        } else {
            return Err(format!("line {} is neither a group nor a key with a value", number + 1));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_group_of_the_proxy_counts() {
        let text = "[client]\nuser=x\n[mysql-proxy]\n# comment\nproxy-address = :1\nproxy_lua_script=no\n";
        let found = parse(text).unwrap();
        assert_eq!(found[0], ("proxy-address".to_owned(), ":1".to_owned()));
        assert_eq!(found.len(), 2);
        assert!(parse("[mysql-proxy]\nnonsense\n").is_err());
    }
}
