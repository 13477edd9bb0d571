//! [`Control`]: the checkpoint record, kept in two slots that are written in turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use env::{DiskErrorKind, Environment, File, OpenMode};
use stdx::checksum::crc32c;
use stdx::ids::Lsn;

use crate::{BLOCK_BYTES, LOG_DIRECTORY, RedoError};

const MAGIC: u64 = u64::from_le_bytes(*b"IRUKALOG");
const FORMAT_VERSION: u32 = 2;
/// Where all versions have their number.
const VERSION_OFFSET: usize = 52;
/// Bytes of a slot that carry something; the last four are the checksum of those before.
const RECORD_BYTES: usize = 128;
const CHECKSUM_OFFSET: usize = RECORD_BYTES - 4;
/// Where version 1 had its checksum.
const CHECKSUM_OFFSET_1: usize = 60;

/// What a log has that not every server knows, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// A server that does not know one of these must not open the log.
    pub incompatible: u64,
    /// A server that does not know one of these may read, but not write.
    pub read_compatible: u64,
    /// A server that does not know these may do as it likes.
    pub compatible: u64,
}

/// Tables in the dictionary have store ids.
const STORE_IDS: u64 = 1;

/// The dictionary may have notes of tables with delete marks.
const DELETE_MARK_NOTES: u64 = 2;

/// The features that this server knows, and gives to a log that it opens.
pub const FEATURES: Features =
    Features { incompatible: STORE_IDS | DELETE_MARK_NOTES, read_compatible: 0, compatible: 0 };

impl Features {
    /// With those of another set.
    pub(crate) fn with(self, other: Features) -> Features {
        Features {
            incompatible: self.incompatible | other.incompatible,
            read_compatible: self.read_compatible | other.read_compatible,
            compatible: self.compatible | other.compatible,
        }
    }
}

/// Which log it is, and of which other one it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// A random number; not 0.
    pub id: u64,
    /// The log of which this one is a copy; 0: of none.
    pub parent_id: u64,
    /// Up to where it has what its parent has.
    pub parent_end: Lsn,
}

impl Lineage {
    /// A log that is made of no other.
    pub(crate) fn new(environment: &Environment) -> Lineage {
        Lineage { id: environment.random.next_u64().max(1), parent_id: 0, parent_end: Lsn(0) }
    }
}

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
    pub lineage: Lineage,
    pub features: Features,
}

fn u64_at(bytes: &[u8; RECORD_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn u32_at(bytes: &[u8; RECORD_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

impl CheckpointRecord {
    fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let mut put = |at: usize, number: u64| bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        let version = u64::from(self.epoch) | u64::from(FORMAT_VERSION) << 32;
        let numbers = [
            MAGIC,
            self.sequence,
            self.segment_bytes,
            self.checkpoint.0,
            self.durable.0,
            self.epoch_start.0,
            version,
            self.lineage.id,
            self.lineage.parent_id,
            self.lineage.parent_end.0,
            self.features.incompatible,
            self.features.read_compatible,
            self.features.compatible,
        ];
        numbers.into_iter().enumerate().for_each(|(at, number)| put(at * 8, number));
        let checksum = crc32c(&bytes[..CHECKSUM_OFFSET]);
        bytes[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// None for what is no record. Errors: a record of another version, or with features that are not known.
    fn decode(bytes: &[u8; RECORD_BYTES]) -> Result<Option<CheckpointRecord>, RedoError> {
        if u64_at(bytes, 0) != MAGIC {
            return Ok(None);
        }
        let version = u32_at(bytes, VERSION_OFFSET);
        let is_whole = |at: usize| u32_at(bytes, at) == crc32c(&bytes[..at]);
        if version == 1 && is_whole(CHECKSUM_OFFSET_1) {
            return Err(RedoError::OldVersion(version));
        }
        if !is_whole(CHECKSUM_OFFSET) {
            return Ok(None);
        }
        let record = CheckpointRecord {
            sequence: u64_at(bytes, 8),
            segment_bytes: u64_at(bytes, 16),
            checkpoint: Lsn(u64_at(bytes, 24)),
            durable: Lsn(u64_at(bytes, 32)),
            epoch_start: Lsn(u64_at(bytes, 40)),
            epoch: u32_at(bytes, 48),
            lineage: Lineage {
                id: u64_at(bytes, 56),
                parent_id: u64_at(bytes, 64),
                parent_end: Lsn(u64_at(bytes, 72)),
            },
            features: Features {
                incompatible: u64_at(bytes, 80),
                read_compatible: u64_at(bytes, 88),
                compatible: u64_at(bytes, 96),
            },
        };
        let unknown = record.features.incompatible & !FEATURES.incompatible
            | record.features.read_compatible & !FEATURES.read_compatible;
        if version != FORMAT_VERSION || unknown != 0 {
            return Err(RedoError::NewerVersion { version, features: unknown });
        }
        let is_sound =
            record.segment_bytes >= BLOCK_BYTES && record.segment_bytes.is_multiple_of(BLOCK_BYTES);
        Ok(is_sound.then_some(record))
    }
}

/// The control file.
pub(crate) struct Control {
    file: Arc<dyn File>,
    /// The last one that is durable.
    pub record: CheckpointRecord,
    /// Up to where one of the slots says that the log was durable.
    noted: Lsn,
}

/// The file's name, in the directory of the log.
pub(crate) const NAME: &str = "control";

pub(crate) fn control_path() -> PathBuf {
    Path::new(LOG_DIRECTORY).join(NAME)
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
            let record = CheckpointRecord::decode(&bytes)?;
            if let Some(record) =
                record.filter(|record| newest.is_none_or(|old| record.sequence > old.sequence))
            {
                newest = Some(record);
            }
        }
        match newest {
            Some(record) => Ok(Some(Control { file, record, noted: record.durable })),
            None => Err(RedoError::ControlDamaged),
        }
    }

    /// Makes the control file of a new log, whole and durable, under its name only when it is complete.
    pub fn create(environment: &Environment, record: CheckpointRecord) -> Result<Control, RedoError> {
        let new_path = Path::new(LOG_DIRECTORY).join("control.new");
        let file = environment.disk.open(&new_path, OpenMode::CreateIfMissing)?;
        file.write_at(&[0; 2 * BLOCK_BYTES as usize], 0)?;
        let mut control = Control { file, record, noted: record.durable };
        control.write(record)?;
        control.file.sync_all()?;
        environment.disk.rename(&new_path, &control_path())?;
        environment.disk.sync_directory(Path::new(LOG_DIRECTORY))?;
        Ok(control)
    }

    /// Writes the next record, durably, over the older of the two. After an error the log must stop (I2).
    pub fn write(&mut self, record: CheckpointRecord) -> Result<(), RedoError> {
        let record = self.put(record)?;
        self.sync()?;
        self.record = record;
        Ok(())
    }

    /// Makes durable what the slots say.
    pub fn sync(&self) -> Result<(), RedoError> {
        Ok(self.file.sync_data()?)
    }

    /// Says how far the log is durable, without a sync, in the slot that the next record overwrites: until that one is durable, the
    /// other slot has all that recovery needs. After an error the log must stop (I2).
    pub fn note(&mut self, durable: Lsn) -> Result<(), RedoError> {
        if durable > self.noted {
            self.put(CheckpointRecord { durable, ..self.record })?;
        }
        Ok(())
    }

    fn put(&mut self, record: CheckpointRecord) -> Result<CheckpointRecord, RedoError> {
        let record = CheckpointRecord { sequence: self.record.sequence + 1, ..record };
        let mut block = [0; BLOCK_BYTES as usize];
        block[..RECORD_BYTES].copy_from_slice(&record.encode());
        self.file.write_at(&block, (record.sequence % 2) * BLOCK_BYTES)?;
        self.noted = record.durable;
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> CheckpointRecord {
        CheckpointRecord {
            sequence: 7,
            segment_bytes: 8 * BLOCK_BYTES,
            checkpoint: Lsn(5000),
            durable: Lsn(6000),
            epoch: 0x1234_5678,
            epoch_start: Lsn(5500),
            lineage: Lineage { id: u64::MAX, parent_id: 3, parent_end: Lsn(4000) },
            features: Features { compatible: 1 << 63, ..FEATURES },
        }
    }

    #[test]
    fn a_record_comes_back_and_a_damaged_one_does_not() {
        let bytes = record().encode();
        assert_eq!(CheckpointRecord::decode(&bytes).unwrap(), Some(record()));
        for at in 0..CHECKSUM_OFFSET {
            let mut damaged = bytes;
            damaged[at] ^= 1;
            assert_eq!(CheckpointRecord::decode(&damaged).unwrap(), None, "byte {at}");
        }
    }

    #[test]
    fn what_another_version_wrote_is_refused() {
        let unknown = [
            Features { incompatible: 1 << 5, ..FEATURES },
            Features { read_compatible: 1 << 63, ..FEATURES },
        ];
        for features in unknown {
            let bytes = CheckpointRecord { features, ..record() }.encode();
            assert!(matches!(CheckpointRecord::decode(&bytes), Err(RedoError::NewerVersion { .. })));
        }
        // Version 1 had half as many bytes.
        let mut bytes = record().encode();
        bytes[VERSION_OFFSET] = 1;
        let checksum = crc32c(&bytes[..CHECKSUM_OFFSET_1]);
        bytes[CHECKSUM_OFFSET_1..CHECKSUM_OFFSET_1 + 4].copy_from_slice(&checksum.to_le_bytes());
        bytes[CHECKSUM_OFFSET_1 + 4..].fill(0);
        let error = CheckpointRecord::decode(&bytes).unwrap_err();
        assert!(
            matches!(error, RedoError::OldVersion(1)) && error.to_string().contains("mysqldump"),
            "{error}"
        );
    }
}
