//! Accounts of the operating system, as `/etc/passwd` and `/etc/group` name them. Main type: [`SystemAccount`].
//! Accounts that only a directory service knows are not found: their numbers are told in messages, and `--user` does not take them.
#![allow(clippy::disallowed_methods)]

use rustix::io::Errno;
use rustix::process::{Gid, Uid};

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemAccount {
    /// Its name.
    pub name: String,
    /// Its number.
    pub user: u32,
    /// The number of its group.
    group: u32,
}

impl SystemAccount {
    /// The account of that name or number.
    pub fn find(name: &str) -> Option<SystemAccount> {
        accounts(&text_of("/etc/passwd"))
            .find(|account| account.name == name || account.user.to_string() == name)
    }

    /// Gives the process to the account, for good. It is to be alone: other threads keep what they have.
    pub fn take_over(&self) -> Result<(), Errno> {
        let group = Gid::from_raw(self.group);
        let mut groups = vec![group];
        groups.extend(further_groups(&text_of("/etc/group"), &self.name).map(Gid::from_raw));
        rustix::thread::set_thread_groups(&groups)?;
        rustix::thread::set_thread_gid(group)?;
        rustix::thread::set_thread_uid(Uid::from_raw(self.user))
    }
}

/// The name of the account with that number, or the number in words.
pub fn name_of(user: u32) -> String {
    let found = accounts(&text_of("/etc/passwd")).find(|account| account.user == user);
    found.map_or_else(|| format!("number {user}"), |account| account.name)
}

/// A file that cannot be read names nobody.
fn text_of(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// `name:password:user:group:...`
fn accounts(text: &str) -> impl Iterator<Item = SystemAccount> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        let user = fields.nth(1)?.parse().ok()?;
        Some(SystemAccount { name, user, group: fields.next()?.parse().ok()? })
    })
}

/// The groups that list the account: `name:password:group:member,member`.
fn further_groups<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = u32> + 'a {
    text.lines().filter_map(move |line| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_member = fields.get(3)?.split(',').any(|member| member == name);
        fields[2].parse().ok().filter(|_| is_member)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_files() {
        let text = "root:x:0:0:root:/root:/bin/sh\nbroken\niruka:x:104:110::/var/lib/iruka:/usr/sbin/nologin\n+::::::\n";
        let found: Vec<SystemAccount> = accounts(text).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], SystemAccount { name: "iruka".to_owned(), user: 104, group: 110 });
        let groups = "adm:x:4:root,iruka\nssl:x:7:\nbroken:x\niruka:x:110:iruka\n";
        assert_eq!(further_groups(groups, "iruka").collect::<Vec<_>>(), [4, 110]);
        assert_eq!(SystemAccount::find("root").map(|account| account.user), Some(0));
        assert_eq!(SystemAccount::find("0").map(|account| account.name).as_deref(), Some("root"));
        assert_eq!(SystemAccount::find("no such account"), None);
    }
}
