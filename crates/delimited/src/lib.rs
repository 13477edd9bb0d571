//! Reading delimited text, as LOAD DATA has it: fields and lines with their ends, quotes and escapes, or of fixed widths. Knows
//! no tables and no types. Main type: [`LineReader`].

#![forbid(unsafe_code)]

mod line_reader;

pub use line_reader::{Field, LineReader, Pieces};
