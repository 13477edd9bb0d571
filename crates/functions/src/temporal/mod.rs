//! Dates and times: DATE_FORMAT (`format`), STR_TO_DATE (`parse`), DATE_ADD and DATE_SUB (`interval`), TIMESTAMPDIFF
//! (`difference`), EXTRACT and weeks (`parts`), MAKEDATE and periods (`construct`), CONVERT_TZ and instants (`zone`).

pub mod construct;
pub mod difference;
pub mod format;
pub mod interval;
pub mod parse;
pub mod parts;
pub mod zone;
