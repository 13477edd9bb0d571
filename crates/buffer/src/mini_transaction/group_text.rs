//! Redo groups as text, for whoever looks at a log. Main function: [`group_lines`].

use page::PageOperation;

use super::record::{Record, Records};

/// Characters of an operation that are shown.
const SHOWN_CHARACTERS: usize = 160;

/// One line for each record of a group's payload; `logical` words those of the layer above.
pub fn group_lines(payload: &[u8], logical: impl Fn(u8, &[u8]) -> String) -> Vec<String> {
    let words = |record: Record<'_>| match record {
        Record::Operation { page, operation } => match PageOperation::decode(operation) {
            Ok(operation) => format!("{page}: {}", shortened(&format!("{operation:?}"))),
            Err(error) => format!("{page}: {error}"),
        },
        Record::Create { page } => format!("{page}: starts anew"),
        Record::Logical { kind, payload } => logical(kind, payload),
        Record::Epoch(epoch) => format!("start of a server: {epoch:?}"),
    };
    let lines = Records::new(payload).map(|record| record.map_or_else(|_| "no record".to_owned(), words));
    lines.collect()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mini_transaction::record::{begin_operation, end_operation, put_create, put_logical};
    use stdx::ids::{PageId, PageNumber, SpaceId};

    #[test]
    fn every_record_has_a_line() {
        let page = PageId { space: SpaceId(7), number: PageNumber(3) };
        let mut group = Vec::new();
        put_create(&mut group, page);
        let at = begin_operation(&mut group, page, true);
        PageOperation::SetBytes { offset: 30, bytes: &[1; 200] }.encode(&mut group);
        end_operation(&mut group, at);
        put_logical(&mut group, 9, b"payload");
        let lines = group_lines(&group, |kind, payload| format!("{kind} of {} bytes", payload.len()));
        assert_eq!(lines.len(), 3);
        assert!(lines[1].contains("SetBytes") && lines[1].ends_with(".."), "{}", lines[1]);
        assert_eq!(lines[2], "9 of 7 bytes");
        assert_eq!(group_lines(&group[..5], |_, _| String::new()).last().unwrap(), "no record");
    }
}
