//! The redo log as text: what `redo/control` says, and the groups from a place on with their records.

use env::Environment;
use redo::{RedoLog, RedoOptions};
use std::path::Path;
use stdx::ids::Lsn;

/// Groups that are shown without `--groups`.
const GROUPS_DEFAULT: u64 = 20;

/// Prints groups of the log below a data directory.
pub fn print(directory: &str, options: &[&str]) -> Result<(), String> {
    let (mut from, mut groups) = (Lsn(0), GROUPS_DEFAULT);
    for option in options.chunks(2) {
        let [name, number] = option else { return Err(format!("{} wants a number", option[0])) };
        let number = number.parse().map_err(|_| format!("{number} is no number"))?;
        match *name {
            "--from" => from = Lsn(number),
            "--groups" => groups = number,
            other => return Err(format!("unknown option {other}")),
        }
    }
    let environment = Environment::real(Path::new(directory));
    if !RedoLog::exists(&environment).map_err(|error| error.to_string())? {
        return Err(format!("{directory} has no redo log"));
    }
    // Sizes matter to a log that is written only.
    let sizes = RedoOptions { capacity_bytes: 0, segment_bytes: 0, buffer_bytes: 0, ends_at_damage: false };
    let log = RedoLog::open(&environment, &sizes).map_err(|error| error.to_string())?;
    let lineage = log.lineage();
    println!("log {:016x}, checkpoint LSN {}", lineage.id, log.checkpoint());
    if lineage.parent_id != 0 {
        println!("copied from log {:016x} up to LSN {}", lineage.parent_id, lineage.parent_end);
    }
    let mut reader = log.reader();
    let mut shown = 0;
    while shown < groups {
        match reader.next_group().map_err(|error| error.to_string())? {
            Some((range, _)) if range.start < from => {}
            Some((range, payload)) => {
                println!("LSN {} to {}", range.start, range.end);
                for line in buffer::group_lines(payload, engine::logical_record_text) {
                    println!("    {line}");
                }
                shown += 1;
            }
            None => {
                println!("the log ends at LSN {}", reader.position());
                return Ok(());
            }
        }
    }
    Ok(())
}
