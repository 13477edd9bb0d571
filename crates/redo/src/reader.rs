//! [`LogReader`]: the groups of a log from a checkpoint on, up to the first that is not whole.

use std::path::PathBuf;

use memchr::memmem;
use stdx::ids::Lsn;

use crate::control::CheckpointRecord;
use crate::group::{GroupHeader, TRAILER_BYTES_MAX};
use crate::log::{BUFFER_BYTES_MAX, UNSYNCED_BYTES_MAX};
use crate::segments::{self, LogFiles};
use crate::{GROUP_BYTES_MAX, GROUP_HEADER_BYTES, GroupRange, RedoError};

/// The log is read in pieces of this size.
const READ_BYTES: u64 = 1 << 20;
/// So far behind the end of a log a group is looked for that shows a hole. When one is appended, what is not durable are at most
/// [`UNSYNCED_BYTES_MAX`], what is being written and what waits in memory, and each of these may end with the largest group.
const SEARCH_BYTES: u64 = UNSYNCED_BYTES_MAX + 2 * BUFFER_BYTES_MAX as u64 + 3 * GROUP_BYTES_MAX as u64;
/// Where the epoch stands in a group.
const EPOCH_OFFSET: u64 = 8;
const EPOCH_BYTES: usize = 4;

/// Reads groups in order. It stops, for good, at the first place without a valid group. It keeps the files open, so it
/// may be used while the log has begun to grow again.
pub struct LogReader {
    files: LogFiles,
    record: CheckpointRecord,
    /// Whether damage counts as the end.
    ends_at_damage: bool,
    position: Lsn,
    /// Bytes of the log from `window_start` on.
    window: Vec<u8>,
    window_start: u64,
    payload: Vec<u8>,
}

impl LogReader {
    pub(crate) fn new(files: LogFiles, record: CheckpointRecord, ends_at_damage: bool) -> Self {
        LogReader {
            files,
            record,
            ends_at_damage,
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
    /// durable is damaged.
    pub fn next_group(&mut self) -> Result<Option<(GroupRange, &[u8])>, RedoError> {
        let start = self.position;
        match self.read_group(start)? {
            Some(end) => {
                self.position = end;
                Ok(Some((GroupRange { start, end }, &self.payload)))
            }
            None if self.ends_at_damage => Ok(None),
            None if start < self.record.durable => {
                let (file, offset) = self.place_of(start);
                Err(RedoError::EndsEarly { lsn: start, file, offset })
            }
            None => match self.later_group(start)? {
                Some((lsn, epoch)) if epoch != self.record.epoch => {
                    let reason = "redo/control is older than the log, which goes on with a later start";
                    Err(RedoError::Corrupt { reason, lsn })
                }
                Some((later, _)) => Err(self.hole(start, later)),
                None => Ok(None),
            },
        }
    }

    /// The end of the whole group at `start` if it may stand there; its payload is in `self.payload` then.
    fn read_group(&mut self, start: Lsn) -> Result<Option<Lsn>, RedoError> {
        match self.header(start)? {
            Some(header) if self.epoch_fits(header.epoch, start) => self.read_whole(start, header),
            _ => Ok(None),
        }
    }

    /// As `read_group`, of any epoch.
    fn read_whole(&mut self, start: Lsn, header: GroupHeader) -> Result<Option<Lsn>, RedoError> {
        let Some(payload_bytes) = header.payload_bytes() else { return Ok(None) };
        let payload_start = start.0 + GROUP_HEADER_BYTES as u64;
        let payload_end = payload_start + payload_bytes as u64;
        if payload_end > self.files.end_lsn().0 {
            return Ok(None);
        }
        let mut payload = std::mem::take(&mut self.payload);
        payload.resize(payload_bytes, 0);
        let copied = self.copy(payload_start, &mut payload);
        self.payload = payload;
        if !copied? {
            return Ok(None);
        }
        let mut trailer = [0; 1 + TRAILER_BYTES_MAX];
        let Some(trailer) = self.trailer(header, payload_end, &mut trailer)? else { return Ok(None) };
        let whole = header.matches(&self.payload, trailer, start);
        Ok(whole.then_some(Lsn(payload_end + trailer.len() as u64)))
    }

    fn header(&mut self, start: Lsn) -> Result<Option<GroupHeader>, RedoError> {
        let mut header = [0; GROUP_HEADER_BYTES];
        Ok(self.copy(start.0, &mut header)?.then(|| GroupHeader::read(&header)))
    }

    /// The trailer behind a payload with its length in front, empty if the group has none. None if there cannot be one.
    fn trailer<'t>(
        &mut self,
        header: GroupHeader,
        position: u64,
        bytes: &'t mut [u8; 1 + TRAILER_BYTES_MAX],
    ) -> Result<Option<&'t [u8]>, RedoError> {
        if !header.has_trailer() {
            return Ok(Some(&[]));
        }
        if !self.copy(position, &mut bytes[..1])? || usize::from(bytes[0]) > TRAILER_BYTES_MAX {
            return Ok(None);
        }
        let end = 1 + usize::from(bytes[0]);
        Ok(self.copy(position + 1, &mut bytes[1..end])?.then_some(&bytes[..end]))
    }

    /// A whole group, with its epoch, that shows that `end` is not the end of the log: one that was appended when the log was
    /// durable beyond `end`, or one of a later start. The tail that a crash tears has none: what the disk kept of it was
    /// appended while its beginning was not yet durable.
    fn later_group(&mut self, end: Lsn) -> Result<Option<(Lsn, u32)>, RedoError> {
        let (now, next) = (self.record.epoch, self.record.epoch + 1);
        let finders = [now, next].map(|epoch| memmem::Finder::new(&epoch.to_le_bytes()).into_owned());
        let shows = |header: GroupHeader, start| {
            header.epoch == next || header.durable_before(start).is_some_and(|durable| durable > end)
        };
        let limit = self.files.end_lsn().0.min(end.0 + SEARCH_BYTES);
        let mut piece = vec![0; READ_BYTES as usize];
        let mut position = end.0 + EPOCH_OFFSET;
        while position < limit {
            let count = READ_BYTES.min(limit - position) as usize;
            if !self.copy(position, &mut piece[..count])? {
                break;
            }
            for at in finders.iter().flat_map(|finder| finder.find_iter(&piece[..count])) {
                let start = Lsn(position + at as u64 - EPOCH_OFFSET);
                if let Some(header) = self.header(start)?
                    && shows(header, start)
                    && self.read_whole(start, header)?.is_some()
                {
                    return Ok(Some((start, header.epoch)));
                }
            }
            // The number may lie across the pieces.
            position += count.saturating_sub(EPOCH_BYTES - 1).max(EPOCH_BYTES) as u64;
        }
        Ok(None)
    }

    fn hole(&self, lsn: Lsn, later: Lsn) -> RedoError {
        let (file, offset) = self.place_of(lsn);
        RedoError::Hole { lsn, file, offset, later }
    }

    /// File and byte of an LSN.
    fn place_of(&self, lsn: Lsn) -> (PathBuf, u64) {
        let segment_bytes = self.files.segment_bytes;
        (segments::path_of(lsn.0 / segment_bytes), lsn.0 % segment_bytes)
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
