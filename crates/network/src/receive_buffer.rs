//! Bytes received and not yet used. Main type: [`ReceiveBuffer`]. Idle connections have none: the reactor lends one
//! from its pool for the time between the arrival of bytes and the use of the last of them.

/// Bytes of a fresh buffer: most commands fit.
const CAPACITY_BYTES: usize = 16 << 10;
/// Most bytes that a buffer grows at once, whatever a packet's header promises.
const GROWTH_BYTES_MAX: usize = 1 << 20;
/// A buffer that grew beyond this is not kept.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// Received bytes.
#[derive(Debug, Default)]
pub struct ReceiveBuffer {
    /// Initialised memory; `start..end` holds what is not used yet.
    memory: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReceiveBuffer {
    /// A buffer with the usual capacity.
    pub fn with_usual_capacity() -> ReceiveBuffer {
        ReceiveBuffer { memory: vec![0; CAPACITY_BYTES], start: 0, end: 0 }
    }

    /// Whether it may go back to the pool.
    pub fn is_reusable(&self) -> bool {
        self.is_empty() && (CAPACITY_BYTES..=KEPT_BYTES_MAX).contains(&self.memory.len())
    }

    /// Gives memory back that is empty and larger than what is kept.
    pub fn release_surplus(&mut self) {
        if self.is_empty() && self.memory.len() > KEPT_BYTES_MAX {
            *self = ReceiveBuffer::default();
        }
    }

    /// Whether everything was used.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// What is not used yet.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    /// Drops bytes from the front.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Room to receive into: at least one byte, more when many are expected.
    pub fn room(&mut self, expected_bytes: usize) -> &mut [u8] {
        let wanted = expected_bytes.clamp(1, GROWTH_BYTES_MAX);
        if self.memory.len() - self.end < wanted && self.start > 0 {
            self.memory.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.memory.len() - self.end < wanted {
            let target = (self.end + wanted).max(self.memory.len() * 2).min(self.end + GROWTH_BYTES_MAX);
            self.memory.resize(target.max(CAPACITY_BYTES), 0);
        }
        &mut self.memory[self.end..]
    }

    /// That many bytes were put into the room.
    pub fn fill(&mut self, count: usize) {
        self.end = (self.end + count).min(self.memory.len());
    }

    /// Appends bytes.
    pub fn append(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room(bytes.len());
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.fill(count);
            bytes = &bytes[count..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_through_in_order() {
        let mut buffer = ReceiveBuffer::with_usual_capacity();
        let sent: Vec<u8> = (0..3_000_000u32).map(|at| (at % 251) as u8).collect();
        let mut received = Vec::new();
        for piece in sent.chunks(70_001) {
            buffer.append(piece);
            let used = buffer.bytes().len() / 2;
            received.extend_from_slice(&buffer.bytes()[..used]);
            buffer.consume(used);
        }
        received.extend_from_slice(buffer.bytes());
        assert!(received == sent);
    }

    #[test]
    fn a_promise_does_not_make_it_grow() {
        let mut buffer = ReceiveBuffer::with_usual_capacity();
        assert!(buffer.room(1 << 30).len() <= CAPACITY_BYTES + GROWTH_BYTES_MAX);
    }
}
