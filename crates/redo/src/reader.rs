//! [`LogReader`]: the groups of a log from a checkpoint on, up to the first that is not whole.

use stdx::ids::Lsn;

use crate::control::CheckpointRecord;
use crate::group::GroupHeader;
use crate::segments::LogFiles;
use crate::{GROUP_BYTES_MAX, GROUP_HEADER_BYTES, GroupRange, RedoError};

/// The log is read in pieces of this size.
const READ_BYTES: u64 = 1 << 20;

/// Reads groups in order. It stops, for good, at the first place without a valid group. It keeps the files open, so it
/// may be used while the log has begun to grow again.
pub struct LogReader {
    files: LogFiles,
    record: CheckpointRecord,
    position: Lsn,
    /// Bytes of the log from `window_start` on.
    window: Vec<u8>,
    window_start: u64,
    payload: Vec<u8>,
}

impl LogReader {
    pub(crate) fn new(files: LogFiles, record: CheckpointRecord) -> Self {
        LogReader {
            files,
            record,
            position: record.checkpoint,
            window: Vec::new(),
            window_start: 0,
            payload: Vec::new(),
        }
    }

    /// The place of the next group; after `next_group` gave None, the end of the log.
    pub fn position(&self) -> Lsn {
        self.position
    }

    /// The next group and its payload; None at the end of the log. A log that ends before what is known to have been
    /// durable is corrupt.
    pub fn next_group(&mut self) -> Result<Option<(GroupRange, &[u8])>, RedoError> {
        let start = self.position;
        match self.read_group(start)? {
            Some(end) => {
                self.position = end;
                Ok(Some((GroupRange { start, end }, &self.payload)))
            }
            None if start < self.record.durable => {
                Err(RedoError::Corrupt { reason: "the log ends before what was durable", lsn: start })
            }
            None => Ok(None),
        }
    }

    fn read_group(&mut self, start: Lsn) -> Result<Option<Lsn>, RedoError> {
        let mut header = [0; GROUP_HEADER_BYTES];
        if !self.copy(start.0, &mut header)? {
            return Ok(None);
        }
        let header = GroupHeader::read(&header);
        let payload_bytes = header.payload_bytes as usize;
        if payload_bytes == 0 || payload_bytes > GROUP_BYTES_MAX || !self.epoch_fits(header.epoch, start) {
            return Ok(None);
        }
        let payload_start = start.0 + GROUP_HEADER_BYTES as u64;
        let end = payload_start + payload_bytes as u64;
        if end > self.files.end_lsn().0 {
            return Ok(None);
        }
        let mut payload = std::mem::take(&mut self.payload);
        payload.resize(payload_bytes, 0);
        let copied = self.copy(payload_start, &mut payload);
        self.payload = payload;
        let whole = copied? && header.matches(&self.payload, start);
        Ok(whole.then_some(Lsn(end)))
    }

    /// Groups from before the last start must lie before it, those of the last start behind. A group that an earlier
    /// start wrote without its predecessors is thus never taken for a successor of newer ones.
    fn epoch_fits(&self, epoch: u32, start: Lsn) -> bool {
        if start < self.record.epoch_start { epoch < self.record.epoch } else { epoch == self.record.epoch }
    }

    /// Copies log bytes; false if the files end before.
    fn copy(&mut self, mut position: u64, mut target: &mut [u8]) -> Result<bool, RedoError> {
        while !target.is_empty() {
            if !self.load(position)? {
                return Ok(false);
            }
            let available = &self.window[(position - self.window_start) as usize..];
            let count = available.len().min(target.len());
            target[..count].copy_from_slice(&available[..count]);
            target = &mut target[count..];
            position += count as u64;
        }
        Ok(true)
    }

    /// Makes the window hold `position`.
    fn load(&mut self, position: u64) -> Result<bool, RedoError> {
        let window_end = self.window_start + self.window.len() as u64;
        if position >= self.window_start && position < window_end {
            return Ok(true);
        }
        let Some(file) = self.files.file(Lsn(position)) else { return Ok(false) };
        let offset = position % self.files.segment_bytes;
        let count = READ_BYTES.min(self.files.segment_bytes - offset);
        self.window.resize(count as usize, 0);
        if let Err(error) = file.read_at(&mut self.window, offset) {
            self.window.clear();
            return Err(error.into());
        }
        self.window_start = position;
        Ok(true)
    }
}
