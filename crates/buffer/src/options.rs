//! [`PoolOptions`]: sizes and switches of the pool and its log, fixed at start-up.

/// What a start does about damage that would end it (innodb_force_recovery).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forced {
    /// Nothing.
    #[default]
    No,
    /// Missing files and pages that cannot be read are passed over for good (1).
    PastDamage,
    /// A damaged log ends where the damage is. Only over an [`env::OverlayDisk`].
    PastDamagedLog,
    /// No log is read, and files are taken as they are (6). Only over an [`env::OverlayDisk`].
    WithoutLog,
}

/// How a pool is opened.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Bytes of all frames together; innodb_buffer_pool_size. Memory is committed as frames are first used.
    pub pool_bytes: u64,
    /// Bytes that the redo log may occupy; innodb_redo_log_capacity. Files are made as they are needed.
    pub log_capacity_bytes: u64,
    /// Bytes of one log file. Only read when the data directory is made.
    pub log_segment_bytes: u64,
    /// Bytes of log that may wait in memory; innodb_log_buffer_size.
    pub log_buffer_bytes: usize,
    /// Whether pages are written twice so that torn writes can be repaired; innodb_doublewrite.
    pub doublewrite: bool,
    /// Whether a flusher thread runs. Simulations switch it off and call `BufferPool::flush_some` and
    /// `BufferPool::checkpoint` themselves.
    pub background: bool,
    /// What damage is passed over.
    pub forced: Forced,
    /// Pages that are kept for statements that free room; 0 for none.
    pub reserve_pages: u32,
    /// Threads that apply the log at start; 0 for what suits the machine, 1 for none but the one that opens the pool.
    pub replay_lanes: usize,
    /// Most tablespace files that stay open (innodb_open_files).
    pub open_files_max: usize,
}

/// What innodb_open_files is if nobody says anything else.
const OPEN_FILES_MAX: usize = 4000;

impl Default for PoolOptions {
    fn default() -> Self {
        PoolOptions {
            pool_bytes: 128 << 20,
            log_capacity_bytes: 1 << 30,
            log_segment_bytes: 16 << 20,
            log_buffer_bytes: 16 << 20,
            doublewrite: true,
            background: true,
            forced: Forced::No,
            reserve_pages: 0,
            replay_lanes: 0,
            open_files_max: OPEN_FILES_MAX,
        }
    }
}

impl PoolOptions {
    /// A small pool without threads, for tests on a simulated disk: `frames` frames and a log of 1 MiB.
    pub fn small(frames: u64) -> PoolOptions {
        PoolOptions {
            pool_bytes: frames * page::PAGE_BYTES as u64,
            log_capacity_bytes: 1 << 20,
            log_segment_bytes: 128 << 10,
            log_buffer_bytes: 256 << 10,
            doublewrite: true,
            background: false,
            forced: Forced::No,
            reserve_pages: 0,
            replay_lanes: 1,
            open_files_max: OPEN_FILES_MAX,
        }
    }
}
