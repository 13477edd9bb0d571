//! The compressed protocol: the byte stream of frames, cut into zlib or zstd packets.
//! Main types: [`Compressor`], [`Decompressor`]. Header: compressed length u24, sequence u8, plain length u24
//! (0: the content is not compressed).

use errors::{SqlError, sql_error};
use std::io::Read;

/// Length u24, sequence u8, plain length u24.
pub const COMPRESSED_HEADER_BYTES: usize = 7;
/// Content shorter than this is sent plain: compressing it would not pay.
const COMPRESSED_BYTES_MIN: usize = 50;
/// Plain bytes of one compressed packet that the server makes.
const PLAIN_BYTES_MAX: usize = 1 << 20;
/// Plain bytes that room is made for at once.
const INFLATED_PIECE_BYTES: usize = 64 << 10;
/// Largest window that a zstd frame may ask memory for: 16 MiB, more than any content has.
const ZSTD_WINDOW_LOG_MAX: u32 = 24;

/// How packets are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// zlib, the default level.
    Zlib,
    /// zstd with a level of 1 to 22 that the client chose.
    Zstd {
        /// The level.
        level: u8,
    },
}

/// Why compressed packets cannot be read. The connection is closed after the error was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionError {
    /// The sequence number is not the next one.
    OutOfOrder,
    /// The content is not compressed, or is longer than declared.
    Content,
}

impl From<CompressionError> for SqlError {
    fn from(error: CompressionError) -> SqlError {
        match error {
            CompressionError::OutOfOrder => sql_error!(ER_NET_PACKETS_OUT_OF_ORDER),
            CompressionError::Content => sql_error!(ER_NET_UNCOMPRESS_ERROR),
        }
    }
}

/// Turns framed output into compressed packets.
#[derive(Debug)]
pub struct Compressor {
    algorithm: Algorithm,
    sequence: u8,
}

impl Compressor {
    /// A compressor whose first packet has number 0.
    pub fn new(algorithm: Algorithm) -> Compressor {
        Compressor { algorithm, sequence: 0 }
    }

    /// The next packet's sequence number becomes this.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The next packet's sequence number.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Appends `plain` to `out` as compressed packets.
    pub fn compress(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        for piece in plain.chunks(PLAIN_BYTES_MAX) {
            let start = out.len();
            out.extend_from_slice(&[0; COMPRESSED_HEADER_BYTES]);
            let shorter = piece.len() >= COMPRESSED_BYTES_MIN && self.compress_piece(piece, out);
            if !shorter {
                out.truncate(start + COMPRESSED_HEADER_BYTES);
                out.extend_from_slice(piece);
            }
            let content = (out.len() - start - COMPRESSED_HEADER_BYTES) as u32;
            let plain_bytes = if shorter { piece.len() as u32 } else { 0 };
            out[start..start + 3].copy_from_slice(&content.to_le_bytes()[..3]);
            out[start + 3] = self.sequence;
            out[start + 4..start + 7].copy_from_slice(&plain_bytes.to_le_bytes()[..3]);
            self.sequence = self.sequence.wrapping_add(1);
        }
    }

    /// Appends the compressed form; false if it failed or is not shorter.
    fn compress_piece(&self, piece: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let done = match self.algorithm {
            Algorithm::Zlib => {
                let mut encoder = flate2::read::ZlibEncoder::new(piece, flate2::Compression::default());
                encoder.read_to_end(out).is_ok()
            }
            Algorithm::Zstd { level } => match zstd::bulk::compress(piece, i32::from(level)) {
                Ok(compressed) => {
                    out.extend_from_slice(&compressed);
                    true
                }
                Err(_) => false,
            },
        };
        done && out.len() - start < piece.len()
    }
}

/// Turns compressed packets into the plain stream of frames.
#[derive(Debug)]
pub struct Decompressor {
    algorithm: Algorithm,
    expected_sequence: u8,
}

impl Decompressor {
    /// A decompressor that expects packet number 0.
    pub fn new(algorithm: Algorithm) -> Decompressor {
        Decompressor { algorithm, expected_sequence: 0 }
    }

    /// The number that the next packet must have: 0 at each command.
    pub fn set_expected_sequence(&mut self, sequence: u8) {
        self.expected_sequence = sequence;
    }

    /// The number that the next packet must have; also the one that the answer starts with.
    pub fn expected_sequence(&self) -> u8 {
        self.expected_sequence
    }

    /// Appends to `plain` the content of the first compressed packet of `buffer`.
    /// Returns the bytes to drop from the front of `buffer`; None while the packet is not complete.
    /// Memory is bounded by the declared plain length, which is below 16 MiB.
    pub fn decompress(
        &mut self,
        buffer: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<Option<usize>, CompressionError> {
        let Some((header, rest)) = buffer.split_first_chunk::<COMPRESSED_HEADER_BYTES>() else {
            return Ok(None);
        };
        let [first, second, third, sequence, plain_bytes @ ..] = *header;
        let content_bytes = u32::from_le_bytes([first, second, third, 0]) as usize;
        let plain_bytes = u32::from_le_bytes([plain_bytes[0], plain_bytes[1], plain_bytes[2], 0]) as usize;
        if sequence != self.expected_sequence {
            return Err(CompressionError::OutOfOrder);
        }
        let Some(content) = rest.get(..content_bytes) else { return Ok(None) };
        self.expected_sequence = sequence.wrapping_add(1);
        if plain_bytes == 0 {
            plain.extend_from_slice(content);
        } else {
            self.inflate(content, plain_bytes, plain)?;
        }
        Ok(Some(COMPRESSED_HEADER_BYTES + content_bytes))
    }

    /// The content may give less than declared, but one byte more is never produced.
    fn inflate(
        &self,
        content: &[u8],
        plain_bytes: usize,
        plain: &mut Vec<u8>,
    ) -> Result<(), CompressionError> {
        let start = plain.len();
        let ends = match self.algorithm {
            Algorithm::Zlib => inflate_zlib(content, plain_bytes, plain),
            Algorithm::Zstd { .. } => zstd::stream::read::Decoder::with_buffer(content)
                .and_then(|mut decoder| {
                    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                    decoder.take(plain_bytes as u64 + 1).read_to_end(plain)
                })
                .is_ok(),
        };
        if ends && plain.len() - start <= plain_bytes {
            return Ok(());
        }
        plain.truncate(start);
        Err(CompressionError::Content)
    }
}

/// Appends the inflated content, bytes behind its end left out; false if it has no end, or none within the declared length.
fn inflate_zlib(content: &[u8], plain_bytes: usize, plain: &mut Vec<u8>) -> bool {
    let mut inflater = flate2::Decompress::new(true);
    let start = plain.len();
    while plain.len() - start <= plain_bytes {
        let left = plain_bytes + 1 - (plain.len() - start);
        plain.reserve_exact(left.min(INFLATED_PIECE_BYTES));
        let before = (inflater.total_in(), inflater.total_out());
        let rest = &content[before.0 as usize..];
        match inflater.decompress_vec(rest, plain, flate2::FlushDecompress::None) {
            Ok(flate2::Status::StreamEnd) => return true,
            Ok(_) if (inflater.total_in(), inflater.total_out()) != before => {}
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_round_trip(algorithm: Algorithm, plain: &[u8]) {
        let mut compressed = Vec::new();
        let mut compressor = Compressor::new(algorithm);
        compressor.set_sequence(3);
        compressor.compress(plain, &mut compressed);
        let mut decompressor = Decompressor::new(algorithm);
        decompressor.set_expected_sequence(3);
        let (mut at, mut back) = (0, Vec::new());
        while at < compressed.len() {
            for cut in [0, 3, 6] {
                let end = (at + cut).min(compressed.len() - 1);
                assert_eq!(decompressor.decompress(&compressed[at..end], &mut back), Ok(None));
            }
            at += decompressor.decompress(&compressed[at..], &mut back).unwrap().unwrap();
        }
        assert!(back == plain);
    }

    #[test]
    fn round_trips() {
        let long: Vec<u8> = (0..3_000_000u32).map(|at| (at / 7) as u8).collect();
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd { level: 3 }] {
            check_round_trip(algorithm, b"short");
            check_round_trip(algorithm, &[b'a'; 500]);
            check_round_trip(algorithm, &long);
        }
    }

    #[test]
    fn more_than_declared_is_refused_before_it_is_inflated() {
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd { level: 1 }] {
            let mut bomb = Vec::new();
            Compressor::new(algorithm).compress(&vec![0; 1 << 20], &mut bomb);
            bomb[4..7].copy_from_slice(&[100, 0, 0]);
            let mut plain = Vec::new();
            assert_eq!(
                Decompressor::new(algorithm).decompress(&bomb, &mut plain),
                Err(CompressionError::Content)
            );
            assert!(plain.is_empty() && plain.capacity() < 4096);
        }
    }

    #[test]
    fn a_length_may_be_declared_too_long() {
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd { level: 1 }] {
            let mut packet = Vec::new();
            Compressor::new(algorithm).compress(&[b'a'; 500], &mut packet);
            packet[4..7].copy_from_slice(&[0xff, 0xff, 0xff]);
            let mut plain = Vec::new();
            assert_eq!(Decompressor::new(algorithm).decompress(&packet, &mut plain), Ok(Some(packet.len())));
            assert!(plain == [b'a'; 500]);
        }
    }

    #[test]
    fn what_is_no_compressed_content_is_refused() {
        let mut whole = Vec::new();
        Compressor::new(Algorithm::Zlib).compress(&[b'a'; 500], &mut whole);
        let content = &whole[COMPRESSED_HEADER_BYTES..];
        let packet = |content: &[u8]| [&[content.len() as u8, 0, 0, 0, 100, 100, 0], content].concat();
        let mut changed = content.to_vec();
        changed.last_mut().into_iter().for_each(|byte| *byte ^= 1);
        for content in [&b""[..], b"neither", &content[..content.len() - 1], &content[..3], &changed] {
            let mut plain = Vec::new();
            let outcome = Decompressor::new(Algorithm::Zlib).decompress(&packet(content), &mut plain);
            assert_eq!(outcome, Err(CompressionError::Content));
            assert!(plain.is_empty());
        }
        // Bytes behind the end are left out.
        let longer = packet(&[content, b"more"].concat());
        let mut plain = Vec::new();
        let outcome = Decompressor::new(Algorithm::Zlib).decompress(&longer, &mut plain);
        assert_eq!((outcome, plain.len()), (Ok(Some(longer.len())), 500));
    }
}
