//! A value that may be too long for memory: it comes piece by piece and is read the same way. Main type: [`Spool`].
//! Its start is in memory, what follows in a temporary file that many share. One thread at a time.

use crate::kept_rows::read_error;
use crate::workspace::{disk_error, full};
use engine::{Extent, SpillFile};
use errors::SqlResult;
use std::sync::Arc;

/// A value of more bytes than this goes to the file, in pieces of so many.
pub const SPOOL_PIECE_BYTES: usize = 256 << 10;

/// The bytes of a value.
#[derive(Debug)]
pub struct Spool {
    file: Arc<SpillFile>,
    /// Pieces in the file.
    pieces: Vec<Extent>,
    /// Bytes of them.
    written: u64,
    /// What follows them.
    open: Vec<u8>,
}

impl Spool {
    /// An empty value.
    pub fn new(file: &Arc<SpillFile>) -> Spool {
        Spool { file: Arc::clone(file), pieces: Vec::new(), written: 0, open: Vec::new() }
    }

    /// Bytes of the value.
    pub fn len(&self) -> u64 {
        self.written + self.open.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that are in memory.
    pub fn memory_bytes(&self) -> usize {
        self.open.len()
    }

    /// Adds bytes. Errors: 1114 when the disk is full.
    pub fn append(&mut self, mut bytes: &[u8]) -> SqlResult<()> {
        while !bytes.is_empty() {
            if self.open.len() == SPOOL_PIECE_BYTES {
                self.pieces.push(self.file.write(&self.open).map_err(disk_error)?);
                self.written += self.open.len() as u64;
                self.open.clear();
            }
            let (now, rest) = bytes.split_at(bytes.len().min(SPOOL_PIECE_BYTES - self.open.len()));
            self.open.extend_from_slice(now);
            bytes = rest;
        }
        Ok(())
    }

    /// The value, if it is all in memory.
    pub fn into_memory(self) -> Result<Vec<u8>, Spool> {
        if self.pieces.is_empty() { Ok(self.open) } else { Err(self) }
    }

    /// Shows the value from its start, piece by piece. Errors: 1030 when the file cannot be read, and those of `visit`.
    pub fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> SqlResult<()>) -> SqlResult<()> {
        for piece in &self.pieces {
            let bytes = env::blocking::region(|| piece.read(0, piece.length())).map_err(read_error)?;
            visit(&bytes)?;
        }
        visit(&self.open)
    }

    /// The first bytes, at most one piece.
    pub fn start(&self, bytes_max: usize) -> SqlResult<Vec<u8>> {
        let Some(piece) = self.pieces.first() else {
            return Ok(self.open[..self.open.len().min(bytes_max)].to_vec());
        };
        let bytes = piece.read(0, piece.length().min(bytes_max)).map_err(read_error)?;
        Ok(bytes.to_vec())
    }

    /// The whole value. Error 1114 for one of more than so many bytes.
    pub fn load_within(&self, bytes_max: u64) -> SqlResult<Vec<u8>> {
        if self.len() > bytes_max { Err(full()) } else { self.load() }
    }

    /// The whole value.
    pub fn load(&self) -> SqlResult<Vec<u8>> {
        let mut all = Vec::with_capacity(self.len() as usize);
        self.visit(&mut |piece| {
            all.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use env::Environment;
    use env::simulated::SimulatedDisk;

    #[test]
    fn what_goes_in_comes_out() {
        let file = Arc::new(SpillFile::new(Environment::simulated(SimulatedDisk::new(1), 1)));
        for bytes in [0, 1, SPOOL_PIECE_BYTES, SPOOL_PIECE_BYTES + 1, 3 * SPOOL_PIECE_BYTES + 77] {
            let value: Vec<u8> = (0..bytes).map(|at| ((at * at) >> 3) as u8).collect();
            let mut spool = Spool::new(&file);
            value.chunks(99_991).for_each(|piece| spool.append(piece).unwrap());
            assert_eq!(spool.len(), bytes as u64);
            assert!(spool.memory_bytes() <= SPOOL_PIECE_BYTES);
            assert!(spool.load().unwrap() == value);
            assert!(spool.start(100).unwrap() == value[..bytes.min(100)]);
            let is_short = bytes <= SPOOL_PIECE_BYTES;
            assert_eq!(spool.into_memory().is_ok_and(|whole| whole == value), is_short);
        }
        assert_eq!(file.file_bytes(), 0, "its room is given back");
    }
}
