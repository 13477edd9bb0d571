//! Whose a locked instruction is. Main function: [`symbols`]. What the library does is put down to the innermost function of
//! this repository that it was compiled into, so that inlining decides nothing; what was compiled to a function of its own
//! (dropping a type, locking a mutex) to the type.

use super::profile::Counts;
use std::process::Command;

/// Longer names are cut.
const NAME_CHARACTERS_MAX: usize = 100;

/// A place.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// The crate, `std`, or the file's name of another library.
    pub owner: String,
    /// File and function, or the type.
    pub name: String,
}

/// The symbol of each instruction, with its count.
pub fn symbols(object: &str, counts: &Counts) -> Result<Vec<(Symbol, u64)>, String> {
    if counts.is_empty() {
        return Ok(Vec::new());
    }
    let output = Command::new("addr2line")
        .args(["-a", "-f", "-i", "-C", "-e", object])
        .args(counts.keys().map(|address| format!("{address:#x}")))
        .output()
        .map_err(|error| format!("addr2line: {error} (package binutils)"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found = symbols_in(&text, object);
    if found.len() == counts.len() {
        Ok(found.into_iter().zip(counts.values().copied()).collect())
    } else {
        Err(format!("addr2line answered {} of {} addresses of {object}", found.len(), counts.len()))
    }
}

/// An address, then pairs of lines, function and place, from the innermost outwards.
fn symbols_in(text: &str, object: &str) -> Vec<Symbol> {
    let mut found = Vec::new();
    let mut frames: Vec<(&str, &str)> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(address) = lines.next() {
        debug_assert!(address.starts_with("0x"));
        frames.clear();
        while let Some(function) = lines.next_if(|line| !line.starts_with("0x")) {
            frames.push((function, lines.next().unwrap_or_default()));
        }
        found.push(symbol(&frames, object));
    }
    found
}

fn symbol(frames: &[(&str, &str)], object: &str) -> Symbol {
    for (function, place) in frames {
        let Some((_, path)) = place.split_once("/crates/") else { continue };
        let (Some((owner, _)), Some((file, _))) = (path.split_once('/'), path.rsplit_once(':')) else {
            continue;
        };
        let function = function.split('<').next().filter(|name| !name.is_empty()).unwrap_or(function);
        let function = function.rsplit("::").next().unwrap_or(function);
        return Symbol { owner: owner.to_owned(), name: format!("{file} {function}") };
    }
    let file = object.rsplit('/').next().unwrap_or(object);
    // The language's library is in the program.
    let library = if file.contains(".so") { file } else { "std" };
    if let Some(guard) = frames.iter().find_map(|(function, _)| dropped_guard(function)) {
        return Symbol { owner: library.to_owned(), name: format!("{library}: drop_in_place<{guard}>") };
    }
    let ours = frames.iter().find_map(|(function, _)| Some((owner_of(function)?, *function)));
    let (owner, function) = ours.unwrap_or((library, frames.last().map_or("?", |(function, _)| function)));
    let short: String = without_paths(function).chars().take(NAME_CHARACTERS_MAX).collect();
    Symbol { owner: owner.to_owned(), name: format!("{owner}: {short}") }
}

/// The guard of a lock that a function drops, whatever it guards: all of them are the same code, of which the linker keeps one under any name.
fn dropped_guard(function: &str) -> Option<&'static str> {
    const GUARDS: [&str; 3] = ["RwLockReadGuard", "RwLockWriteGuard", "MutexGuard"];
    let (_, dropped) = function.split_once("drop_in_place<")?;
    let name = dropped.split('<').next()?.rsplit("::").next()?;
    GUARDS.into_iter().find(|guard| *guard == name)
}

/// The first crate in a function's name that is not of the language's library.
fn owner_of(function: &str) -> Option<&str> {
    const LIBRARY: [&str; 5] = ["core", "alloc", "std", "hashbrown", "mimalloc"];
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let paths = function.split(|c| !is_part(c)).filter_map(|path| path.split_once("::"));
    paths.map(|(first, _)| first).find(|first| !first.is_empty() && !LIBRARY.contains(first))
}

/// `a::b<c::d>` as `b<d>`, `<a::b>::c` as `<b>::c`.
fn without_paths(function: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    for c in function.chars() {
        match c {
            ':' if word.is_empty() && short.ends_with('>') => short.push_str("::"),
            ':' => word.clear(),
            c if c.is_ascii_alphanumeric() || c == '_' => word.push(c),
            c => {
                short.push_str(&word);
                word.clear();
                short.push(c);
            }
        }
    }
    short + &word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_function_of_the_repository_is_named() {
        let text = "0x0000000000001000\nfetch_add\n/rustc/1/library/core/src/atomic.rs:3\nclone<txn::kill::State>\n/rustc/1/sync.rs:9\n\
                    clone\n/w/crates/txn/src/kill.rs:12\nrun<a::b>\n/w/crates/session/src/execute.rs:40\n\
                    0x0000000000002000\ncore::ptr::drop_in_place<txn::snapshots::Snapshot>\n/rustc/1/atomic.rs:1\n\
                    0x0000000000003000\nstd::sync::Mutex<T>::lock\n/rustc/1/a.rs:1\nlock<Map<session::key::Key, Global>>\n/rustc/1/b.rs:1\n\
                    0x0000000000003800\ncore::ptr::drop_in_place<std::sync::poison::rwlock::RwLockReadGuard<Map<session::key::Key>>>\n/rustc/1/a.rs:1\n\
                    0x0000000000004000\nfetch_add\n/rustc/1/a.rs:1\n<std::sync::Condvar>::notify_all\n/rustc/1/b.rs:1\n";
        let expected = [
            ("txn", "txn/src/kill.rs clone"),
            ("txn", "txn: drop_in_place<Snapshot>"),
            ("session", "session: lock<Map<Key, Global>>"),
            ("std", "std: drop_in_place<RwLockReadGuard>"),
            ("std", "std: <Condvar>::notify_all"),
        ];
        let expected =
            expected.map(|(owner, name)| Symbol { owner: owner.to_owned(), name: name.to_owned() });
        assert_eq!(symbols_in(text, "/target/quick/instructions"), expected);
        let unknown = symbols_in("0x1\n__GI_lock\n??:0\n", "/lib/libc.so.6");
        assert_eq!((&*unknown[0].owner, &*unknown[0].name), ("libc.so.6", "libc.so.6: __GI_lock"));
    }
}
