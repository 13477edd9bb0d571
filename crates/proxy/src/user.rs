//! `--user`: the rights of the process after the start.
#![allow(clippy::disallowed_methods)]

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};

/// Becomes that user. Threads have rights of their own: those that are started later inherit this one's.
pub(crate) fn become_user(name: &str) -> Result<(), String> {
    let users = std::fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {error}"))?;
    let (uid, gid) = find(&users, name).ok_or_else(|| format!("unknown user: {name}"))?;
    if rustix::process::geteuid() == uid {
        return Ok(());
    }
    let failed = |error: rustix::io::Errno| format!("--user={name}: {error}");
    set_thread_groups(&[gid]).map_err(failed)?;
    set_thread_gid(gid).map_err(failed)?;
    set_thread_uid(uid).map_err(failed)
}

fn find(users: &str, name: &str) -> Option<(Uid, Gid)> {
    let mut fields = users
        .lines()
        .map(|line| line.split(':'))
        .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
    let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((Uid::from_raw(uid), Gid::from_raw(gid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name() {
        let users = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65535::/:/bin/false\nbroken\n";
        assert_eq!(find(users, "nobody"), Some((Uid::from_raw(65534), Gid::from_raw(65535))));
        assert_eq!(find(users, "nob"), None);
        assert_eq!(find(users, "broken"), None);
    }
}
