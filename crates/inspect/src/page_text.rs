//! A page as text: header, what its kind has, and the cells of a node.

use crate::hex;
use env::{Environment, OpenMode};
use page::{CorruptPage, Fence, NodeRef, PAGE_BYTES, PageKind, SpaceHeaderRef};
use std::path::Path;

/// Prints a page of a data file.
/// Entries of a clustered index have a longer header than others; the page does not tell.
pub fn print(file: &str, number: u32, clustered: bool) -> Result<(), String> {
    let path = Path::new(file);
    let environment = Environment::real(path.parent().unwrap_or(Path::new("")));
    let name = Path::new(path.file_name().unwrap_or_default());
    let opened =
        environment.disk.open(name, OpenMode::Existing).map_err(|error| format!("{file}: {error}"))?;
    let mut bytes = vec![0; PAGE_BYTES];
    let offset = u64::from(number) * PAGE_BYTES as u64;
    opened.read_at(&mut bytes, offset).map_err(|error| format!("{file}, page {number}: {error}"))?;
    let whole = page::stored_checksum(&bytes) == stdx::checksum::crc32c(&bytes[4..]);
    println!("checksum {:08x} ({})", page::stored_checksum(&bytes), if whole { "right" } else { "WRONG" });
    println!("space {} page {} LSN {}", page::space(&bytes), page::number(&bytes), page::lsn(&bytes));
    println!("stored {}", if page::is_plain(&bytes) { "plainly" } else { "encrypted or compressed" });
    let described = page::kind(&bytes).and_then(|kind| {
        println!("kind {kind:?}");
        body(kind, &bytes, clustered)
    });
    described.and_then(|()| page::verify(&bytes)).map_err(|error| error.to_string())
}

fn body(kind: PageKind, bytes: &[u8], clustered: bool) -> Result<(), CorruptPage> {
    match kind {
        PageKind::Zero => {}
        PageKind::SpaceHeader => {
            let header = SpaceHeaderRef::new(bytes)?;
            let origin = header.origin()?;
            println!(
                "of log {:016x}, made at LSN {}, for {:?}, store {:016x}",
                origin.log_id, origin.created, origin.kind, origin.store_id
            );
            println!("pages {}, used {}", header.size_pages(), header.used_pages());
            println!("free pages {}, first {:?}", header.free_pages(), header.free_head());
        }
        PageKind::Free => println!("next free page {:?}", SpaceHeaderRef::next_free(bytes)?),
        PageKind::Inner | PageKind::Leaf => node(&NodeRef::new(bytes)?, clustered)?,
    }
    Ok(())
}

fn node(node: &NodeRef<'_>, clustered: bool) -> Result<(), CorruptPage> {
    println!("index {}, level {}, next {:?}", node.index(), node.level(), node.right());
    println!("live rows {}, newest writer {}", node.live_rows(), node.newest_writer());
    println!("lower fence {}, prefix {}", hex(node.lower_fence()?), hex(node.prefix()?));
    match node.upper_fence()? {
        Fence::Key(key) => println!("upper fence {}", hex(key)),
        Fence::Infinite => println!("no upper fence"),
    }
    println!("cells {}, free bytes {}", node.count(), node.free_bytes());
    let mut key = Vec::new();
    for slot in 0..node.count() {
        key.clear();
        node.key_into(slot, &mut key)?;
        if node.is_leaf() {
            println!("{slot:5} {} = {}", hex(&key), value(node.value(slot)?, clustered));
        } else {
            println!("{slot:5} {} > page {}", hex(&key), node.child(slot)?);
        }
    }
    Ok(())
}

fn value(bytes: &[u8], clustered: bool) -> String {
    let (entry, row) = engine::entry_text(clustered, bytes).unwrap_or((String::new(), bytes));
    format!("{entry}{}", hex(row))
}
