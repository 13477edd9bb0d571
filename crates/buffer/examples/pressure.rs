//! Writes and reads far more pages than the pool holds: shows flushing, replacement and checkpoints under load.
//! Run: cargo run --profile quick -p buffer --example pressure -- DIRECTORY [PAGES]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use buffer::{BufferPool, NoLogicalRecords, NothingNeeded, PoolOptions};
use env::Environment;
use page::{PageOperation, SpaceKind};
use stdx::ids::{PageId, PageNumber, SpaceId};

const SPACE: SpaceId = SpaceId(1);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: pressure DIRECTORY (new or empty) [PAGES]");
        return;
    };
    let pages: u32 = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(40_000);
    let environment = Environment::real(&directory);
    let clock = Arc::clone(&environment.clock);
    let pool =
        BufferPool::open(environment, PoolOptions::default(), &mut NoLogicalRecords).expect("pool opens");
    pool.set_checkpoint_participant(Arc::new(NothingNeeded));
    pool.create_space(SPACE, SpaceKind::Table, Path::new("pressure.ibd")).expect("space is created");
    let time = |name: &str, run: &mut dyn FnMut(u32)| {
        let start = clock.monotonic();
        let mut slowest = std::time::Duration::ZERO;
        for number in 0..pages {
            let began = clock.monotonic();
            run(number);
            slowest = slowest.max(clock.monotonic() - began);
        }
        let elapsed = clock.monotonic() - start;
        let (resident, dirty) = pool.page_counts();
        println!(
            "{name}: {elapsed:?}, {:.1} us a page, slowest {slowest:?}; {resident} pages in memory, {dirty} dirty; log lag {}",
            elapsed.as_micros() as f64 / f64::from(pages),
            pool.redo().end_lsn().0 - pool.redo().checkpoint_lsn().0,
        );
    };
    let content = [7; 8000];
    time("append", &mut |_| {
        let mut mini = pool.mini_transaction();
        let slot = mini.allocate(SPACE).expect("disk has room");
        mini.apply(slot, &PageOperation::SetBytes { offset: 24, bytes: &content });
        mini.commit();
    });
    time("read in order", &mut |number| {
        let page = PageId { space: SPACE, number: PageNumber(1 + number) };
        assert_eq!(pool.shared(page).expect("page is there")[100], 7);
    });
    time("change in random order", &mut |number| {
        let page =
            PageId { space: SPACE, number: PageNumber(1 + number.wrapping_mul(2_654_435_761) % pages) };
        let mut mini = pool.mini_transaction();
        let slot = mini.latch(page).expect("page is there");
        mini.apply(slot, &PageOperation::SetBytes { offset: 24, bytes: &number.to_le_bytes() });
        mini.commit();
    });
    let start = clock.monotonic();
    pool.shutdown().expect("shutdown");
    println!("shutdown: {:?}", clock.monotonic() - start);
    for (name, value) in metrics::counter_values().filter(|(_, value)| *value > 0) {
        println!("  {name} {value}");
    }
}
