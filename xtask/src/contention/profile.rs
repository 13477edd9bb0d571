//! A profile of callgrind with instructions (`--dump-instr=yes`), without its compression. Main type: [`Profile`].

use std::collections::BTreeMap;

/// How often an instruction at each address ran.
pub type Counts = BTreeMap<u64, u64>;

/// What ran between two profiles.
#[derive(Debug, Default)]
pub struct Profile {
    /// By the file of the code.
    pub counts: BTreeMap<String, Counts>,
    /// The operation before which it was written: the name of the `counted_*` function.
    pub next_operation: Option<String>,
}

impl Profile {
    /// Reads the text of a profile.
    pub fn parse(text: &str) -> Result<Profile, String> {
        let mut profile = Profile::default();
        let mut object = String::new();
        // The line behind `calls=` has the address of the call and what happened below it, which is counted there.
        let mut is_call = false;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("ob=") {
                name.clone_into(&mut object);
            } else if line.starts_with("calls=") {
                is_call = true;
            } else if let Some(trigger) = line.strip_prefix("desc: Trigger: --dump-before=") {
                profile.next_operation = trigger.split_once("::counted_").map(|(_, name)| name.to_owned());
            } else if line.starts_with("0x") && !std::mem::take(&mut is_call) {
                let (address, count) = cost(line).ok_or_else(|| format!("callgrind wrote {line}"))?;
                *profile.counts.entry(object.clone()).or_default().entry(address).or_default() += count;
            }
        }
        Ok(profile)
    }
}

/// `0xADDRESS LINE COUNT`.
fn cost(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split(' ');
    let address = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    Some((address, words.nth(1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_counted_where_it_runs() {
        let text = "desc: Trigger: --dump-before=instructions::single::counted_update\nob=/x\nfn=a\n0x10 3 4\n0x12 3 4\n\
                    cob=/y\ncfn=b\ncalls=4 0x50\n0x14 3 4000\n0x14 3 4\nob=/y\nfn=b\n0x50 0 1\n0x50 0 3\n";
        let profile = Profile::parse(text).unwrap();
        assert_eq!(profile.next_operation.as_deref(), Some("update"));
        assert_eq!(profile.counts["/x"], Counts::from([(0x10, 4), (0x12, 4), (0x14, 4)]));
        assert_eq!(profile.counts["/y"], Counts::from([(0x50, 4)]));
        assert!(Profile::parse("0x10 3\n").is_err());
    }
}
