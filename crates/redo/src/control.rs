//! [`Control`]: the checkpoint record, kept in two slots that are written in turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{DiskErrorKind, Environment, File, OpenMode};
use stdx::checksum::crc32c;
use stdx::ids::Lsn;

use crate::{BLOCK_BYTES, LOG_DIRECTORY, RedoError};

const MAGIC: u64 = u64::from_le_bytes(*b"IRUKALOG");
const FORMAT_VERSION: u32 = 1;
/// Bytes of a slot that carry something; the last four are the checksum of those before.
const RECORD_BYTES: usize = 64;
const CHECKSUM_OFFSET: usize = RECORD_BYTES - 4;

/// What recovery must know before it reads the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckpointRecord {
    /// Counts records; the greater of two slots is the newer.
    pub sequence: u64,
    /// Bytes of one log file.
    pub segment_bytes: u64,
    /// Recovery starts here.
    pub checkpoint: Lsn,
    /// The log was durable up to here when the record was written; a log that ends before is damaged.
    pub durable: Lsn,
    /// Every start of the engine has an epoch; its groups carry it.
    pub epoch: u32,
    /// Where the epoch's first group starts.
    pub epoch_start: Lsn,
}

impl CheckpointRecord {
    fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let numbers =
            [MAGIC, self.sequence, self.segment_bytes, self.checkpoint.0, self.durable.0, self.epoch_start.0];
        for (slot, number) in bytes.chunks_mut(8).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        bytes[48..52].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[52..56].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        let checksum = crc32c(&bytes[..CHECKSUM_OFFSET]);
        bytes[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<CheckpointRecord> {
        let u64_at = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let valid = u32_at(CHECKSUM_OFFSET)? == crc32c(&bytes[..CHECKSUM_OFFSET])
            && u64_at(0)? == MAGIC
            && u32_at(52)? == FORMAT_VERSION;
        let record = CheckpointRecord {
            sequence: u64_at(8)?,
            segment_bytes: u64_at(16)?,
            checkpoint: Lsn(u64_at(24)?),
            durable: Lsn(u64_at(32)?),
            epoch_start: Lsn(u64_at(40)?),
            epoch: u32_at(48)?,
        };
        (valid && record.segment_bytes >= BLOCK_BYTES && record.segment_bytes.is_multiple_of(BLOCK_BYTES))
            .then_some(record)
    }
}

/// The control file.
pub(crate) struct Control {
    file: Arc<dyn File>,
    pub record: CheckpointRecord,
}

fn control_path() -> PathBuf {
    Path::new(LOG_DIRECTORY).join("control")
}

impl Control {
    /// Opens the control file; None if there is none, which means that there is no log.
    pub fn open(environment: &Environment) -> Result<Option<Control>, RedoError> {
        let file = match environment.disk.open(&control_path(), OpenMode::Existing) {
            Ok(file) => file,
            Err(error) if error.kind == DiskErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut newest: Option<CheckpointRecord> = None;
        for slot in 0..2 {
            let mut bytes = [0; RECORD_BYTES];
            match file.read_at(&mut bytes, slot * BLOCK_BYTES) {
                Err(error) if error.kind == DiskErrorKind::UnexpectedEnd => continue,
                outcome => outcome?,
            }
            let record = CheckpointRecord::decode(&bytes);
            if let Some(record) =
                record.filter(|record| newest.is_none_or(|old| record.sequence > old.sequence))
            {
                newest = Some(record);
            }
        }
        match newest {
            Some(record) => Ok(Some(Control { file, record })),
            None => Err(RedoError::Corrupt { reason: "no valid checkpoint record", lsn: Lsn(0) }),
        }
    }

    /// Makes the control file of a new log, whole and durable, under its name only when it is complete.
    pub fn create(environment: &Environment, record: CheckpointRecord) -> Result<Control, RedoError> {
        let new_path = Path::new(LOG_DIRECTORY).join("control.new");
        let file = environment.disk.open(&new_path, OpenMode::CreateIfMissing)?;
        file.write_at(&[0; 2 * BLOCK_BYTES as usize], 0)?;
        let mut control = Control { file, record };
        control.write(record)?;
        control.file.sync_all()?;
        environment.disk.rename(&new_path, &control_path())?;
        environment.disk.sync_directory(Path::new(LOG_DIRECTORY))?;
        Ok(control)
    }

    /// Writes the next record, durably, over the older of the two. After an error the log must stop (I2).
    pub fn write(&mut self, record: CheckpointRecord) -> Result<(), RedoError> {
        let record = CheckpointRecord { sequence: self.record.sequence + 1, ..record };
        let mut block = [0; BLOCK_BYTES as usize];
        block[..RECORD_BYTES].copy_from_slice(&record.encode());
        self.file.write_at(&block, (record.sequence % 2) * BLOCK_BYTES)?;
        self.file.sync_data()?;
        self.record = record;
        Ok(())
    }
}
