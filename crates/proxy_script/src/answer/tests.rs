use super::*;

const EOF_FORM: u32 = 0;
const OK_FORM: u32 = client::DEPRECATE_EOF;

fn frame(sequence: usize, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    bytes.push(sequence as u8);
    bytes.extend_from_slice(payload);
    bytes
}

fn frames(payloads: &[&[u8]]) -> Vec<u8> {
    payloads.iter().enumerate().flat_map(|(at, payload)| frame(at + 1, payload)).collect()
}

fn ok(header: u8, affected_rows: u8, insert_id: u8, server_status: u16, warnings: u8) -> Vec<u8> {
    let status = server_status.to_le_bytes();
    vec![header, affected_rows, insert_id, status[0], status[1], warnings, 0]
}

fn eof(server_status: u16, warnings: u8) -> Vec<u8> {
    let status = server_status.to_le_bytes();
    vec![EOF, warnings, 0, status[0], status[1]]
}

const ERROR: &[u8] = b"\xff\x15\x04#28000no";
const DEFINITION: &[u8] = b"\x03def\x00\x00\x00\x01n\x00\x0c\x3f\x00\x01\x00\x00\x00\x08\x81\x00\x00\x00\x00";

/// A result set with two rows as the form has it.
fn result_set(capabilities: u32, server_status: u16, warnings: u8) -> Vec<Vec<u8>> {
    let mut payloads = vec![vec![2], DEFINITION.to_vec(), DEFINITION.to_vec()];
    if capabilities == EOF_FORM {
        payloads.push(eof(status::AUTOCOMMIT, 0));
    }
    payloads.push(b"\x011\xfb".to_vec());
    payloads.push(b"\x012\x00".to_vec());
    payloads.push(match capabilities {
        EOF_FORM => eof(server_status, warnings),
        _ => ok(EOF, 0, 0, server_status, warnings),
    });
    payloads
}

/// Bytes of the two rows of `result_set` with their headers.
const ROW_BYTES: u64 = 2 * (4 + 3);

/// Follows the packets cut at every byte, and byte by byte: always to that end, never earlier, and never beyond.
fn follow(form: Form, capabilities: u32, payloads: &[Vec<u8>], end: Progress) -> Summary {
    let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
    let bytes = frames(&payloads);
    let followed = [&bytes[..], b"more"].concat();
    let new = || AnswerReader::new(form, capabilities).numbered_from(1);
    let mut whole = new();
    assert_eq!(whole.read(&followed), (bytes.len(), end));
    for cut in 0..bytes.len() {
        let mut reader = new();
        assert_eq!(reader.read(&bytes[..cut]), (cut, Progress::Open), "cut at {cut}");
        assert_eq!(reader.read(&followed[cut..]), (bytes.len() - cut, end), "cut at {cut}");
        assert_eq!(reader.summary, whole.summary, "cut at {cut}");
    }
    let mut reader = new();
    for (at, byte) in bytes.iter().enumerate() {
        let expected = if at + 1 == bytes.len() { end } else { Progress::Open };
        assert_eq!(reader.read(&[*byte]), (1, expected), "byte {at}");
    }
    assert_eq!(reader.summary, whole.summary);
    assert!(!reader.is_inside_packet());
    whole.summary
}

#[test]
fn an_ok_packet_ends_a_command() {
    let summary = follow(Form::Results, EOF_FORM, &[ok(OK, 3, 7, 0x8001, 2)], Progress::Done);
    let expected = Summary {
        query_status: Some(OK),
        affected_rows: 3,
        insert_id: 7,
        warning_count: 2,
        server_status: 0x8001,
        ..Summary::default()
    };
    assert_eq!(summary, expected);
}

#[test]
fn an_error_ends_a_command_of_every_form_that_has_answers() {
    for (form, status) in [
        (Form::Results, ERR),
        (Form::Single, OK),
        (Form::Prepared, OK),
        (Form::UntilEnd, OK),
        (Form::Login, OK),
    ] {
        for capabilities in [EOF_FORM, OK_FORM] {
            let summary = follow(form, capabilities, &[ERROR.to_vec()], Progress::Done);
            let expected = Summary { query_status: Some(status), is_error: true, ..Summary::default() };
            assert_eq!(summary, expected, "{form:?}");
        }
    }
}

#[test]
fn a_result_set_ends_behind_its_rows() {
    for capabilities in [EOF_FORM, OK_FORM] {
        let payloads = result_set(capabilities, status::IN_TRANS, 4);
        let summary = follow(Form::Results, capabilities, &payloads, Progress::Done);
        let expected = Summary {
            query_status: Some(OK),
            has_rows: true,
            last_has_rows: true,
            warning_count: 4,
            server_status: status::IN_TRANS,
            row_count: 2,
            row_bytes: ROW_BYTES,
            ..Summary::default()
        };
        assert_eq!(summary, expected);
    }
}

#[test]
fn an_error_ends_a_result_set_at_each_place() {
    for capabilities in [EOF_FORM, OK_FORM] {
        let whole = result_set(capabilities, 0, 0);
        let definitions = if capabilities == EOF_FORM { 4 } else { 3 };
        for rows in 0..3 {
            let mut payloads = whole[..definitions + rows].to_vec();
            payloads.push(ERROR.to_vec());
            let summary = follow(Form::Results, capabilities, &payloads, Progress::Done);
            assert!(summary.is_error && summary.has_rows);
            assert_eq!((summary.query_status, summary.row_count), (Some(ERR), rows as u64));
        }
    }
    // In the place of the EOF behind the definitions.
    let mut payloads = result_set(EOF_FORM, 0, 0)[..3].to_vec();
    payloads.push(ERROR.to_vec());
    assert!(follow(Form::Results, EOF_FORM, &payloads, Progress::Done).is_error);
}

#[test]
fn results_go_on_while_the_status_says_so() {
    for capabilities in [EOF_FORM, OK_FORM] {
        let mut payloads = vec![ok(OK, 9, 8, status::MORE_RESULTS_EXISTS, 0)];
        payloads.extend(result_set(capabilities, status::MORE_RESULTS_EXISTS, 1));
        payloads.extend(result_set(capabilities, status::MORE_RESULTS_EXISTS | status::IN_TRANS, 1));
        let mut ends_with_ok = payloads.clone();
        ends_with_ok.push(ok(OK, 1, 0, status::AUTOCOMMIT, 3));
        let summary = follow(Form::Results, capabilities, &ends_with_ok, Progress::Done);
        let expected = Summary {
            query_status: Some(OK),
            affected_rows: 1,
            warning_count: 3,
            server_status: status::AUTOCOMMIT,
            row_count: 4,
            row_bytes: 2 * ROW_BYTES,
            ..Summary::default()
        };
        assert_eq!(summary, expected);
        let mut ends_with_error = payloads.clone();
        ends_with_error.push(ERROR.to_vec());
        let summary = follow(Form::Results, capabilities, &ends_with_error, Progress::Done);
        assert_eq!((summary.query_status, summary.affected_rows), (Some(ERR), 9));
        assert!(summary.last_has_rows && !summary.has_rows);
    }
}

#[test]
fn a_cursor_is_opened_without_rows() {
    let opened = status::CURSOR_EXISTS | status::AUTOCOMMIT;
    for (capabilities, end) in [(EOF_FORM, eof(opened, 0)), (OK_FORM, ok(EOF, 0, 0, opened, 0))] {
        let payloads = [vec![1], DEFINITION.to_vec(), end];
        let summary = follow(Form::Results, capabilities, &payloads, Progress::Done);
        assert!(summary.has_rows);
        assert_eq!((summary.query_status, summary.row_count), (Some(OK), 0));
        assert_eq!(summary.server_status, opened);
    }
}

#[test]
fn rows_of_a_cursor_and_definitions_of_a_table_come_until_their_end() {
    for (capabilities, end) in
        [(EOF_FORM, eof(status::LAST_ROW_SENT, 0)), (OK_FORM, ok(EOF, 0, 0, status::LAST_ROW_SENT, 0))]
    {
        for first in [b"\x00\x00\x0512345".to_vec(), DEFINITION.to_vec()] {
            let payloads = [first.clone(), first, end.clone()];
            let summary = follow(Form::UntilEnd, capabilities, &payloads, Progress::Done);
            assert_eq!((summary.query_status, summary.server_status), (Some(OK), status::LAST_ROW_SENT));
        }
        let nothing = follow(Form::UntilEnd, capabilities, std::slice::from_ref(&end), Progress::Done);
        assert_eq!(nothing.query_status, Some(OK));
        let broken_off = [DEFINITION.to_vec(), ERROR.to_vec()];
        assert!(follow(Form::UntilEnd, capabilities, &broken_off, Progress::Done).is_error);
    }
}

#[test]
fn a_prepared_statement_has_definitions_of_parameters_and_columns() {
    for capabilities in [EOF_FORM, OK_FORM] {
        for (columns, parameters) in [(0u8, 0u8), (2, 0), (0, 3), (1, 1), (2, 3)] {
            let mut payloads = vec![vec![0, 9, 0, 0, 0, columns, 0, parameters, 0, 0, 0, 0]];
            for count in [parameters, columns] {
                payloads.extend((0..count).map(|_| DEFINITION.to_vec()));
                if count > 0 && capabilities == EOF_FORM {
                    payloads.push(eof(status::AUTOCOMMIT, 0));
                }
            }
            let summary = follow(Form::Prepared, capabilities, &payloads, Progress::Done);
            assert_eq!((summary.query_status, summary.has_rows), (Some(OK), false));
        }
    }
}

#[test]
fn one_packet_is_the_whole_answer_of_some_commands() {
    for payload in [b"Uptime: 5".to_vec(), eof(0, 0), ok(OK, 0, 0, 2, 0), Vec::new()] {
        assert_eq!(follow(Form::Single, EOF_FORM, &[payload], Progress::Done).query_status, Some(OK));
    }
    assert!(AnswerReader::new(Form::None, 0).expects_nothing());
}

#[test]
fn a_file_is_asked_for_and_then_judged() {
    let request = frame(1, b"\xfbname.txt");
    let asked = follow(Form::Results, EOF_FORM, &[b"\xfbname.txt".to_vec()], Progress::ClientsTurn);
    assert_eq!(asked, Summary::default());
    let verdicts = [(ok(OK, 5, 0, 0, 1), OK, Progress::Done), (ERROR.to_vec(), ERR, Progress::Done)];
    for (verdict, status, end) in verdicts {
        let mut reader = AnswerReader::new(Form::Results, EOF_FORM).numbered_from(1);
        assert_eq!(reader.read(&request), (request.len(), Progress::ClientsTurn));
        reader.file_was_sent();
        // The client's packets were counted: the number of the verdict is not known beforehand.
        let verdict = frame(77, &verdict);
        assert_eq!(reader.read(&verdict), (verdict.len(), end));
        assert_eq!(reader.summary.query_status, Some(status));
    }
    let mut reader = AnswerReader::new(Form::Results, EOF_FORM).numbered_from(1);
    reader.read(&request);
    reader.file_was_sent();
    assert_eq!(reader.read(&frame(3, &ok(OK, 5, 0, status::MORE_RESULTS_EXISTS, 0))).1, Progress::Open);
    assert_eq!(reader.read(&frame(4, &ok(OK, 6, 0, 0, 0))).1, Progress::Done);
    assert_eq!(reader.summary.affected_rows, 6);
}

#[test]
fn a_login_goes_back_and_forth() {
    let switch = b"\xfemysql_native_password\x0001234567890123456789\x00".to_vec();
    follow(Form::Login, EOF_FORM, std::slice::from_ref(&switch), Progress::ClientsTurn);
    follow(Form::Login, EOF_FORM, &[vec![1, 4]], Progress::ClientsTurn);
    let quick = follow(Form::Login, EOF_FORM, &[vec![1, 3], ok(OK, 0, 0, 2, 0)], Progress::Done);
    assert_eq!((quick.query_status, quick.server_status), (Some(OK), 2));
    let mut reader = AnswerReader::new(Form::Login, EOF_FORM).numbered_from(1);
    assert_eq!(reader.read(&frame(1, &switch)).1, Progress::ClientsTurn);
    assert_eq!(reader.read(&frame(3, &ok(OK, 0, 0, 0, 0))).1, Progress::Done);
}

#[test]
fn frames_out_of_order_are_no_answer() {
    let payloads = result_set(EOF_FORM, 0, 0);
    let wrong_at = |wrong: usize| -> Vec<u8> {
        let number = |at: usize| if at == wrong { at + 2 } else { at + 1 };
        payloads.iter().enumerate().flat_map(|(at, payload)| frame(number(at), payload)).collect()
    };
    for wrong in 0..payloads.len() {
        let mut reader = AnswerReader::new(Form::Results, EOF_FORM).numbered_from(1);
        assert_eq!(reader.read(&wrong_at(wrong)).1, Progress::Broken, "frame {wrong}");
        let mut unnumbered = AnswerReader::new(Form::Results, EOF_FORM);
        assert_eq!(unnumbered.read(&wrong_at(wrong)).1, Progress::Done);
    }
    // What is no protocol at all is seen with its fourth byte, whatever length it promises.
    let mut reader = AnswerReader::new(Form::Results, EOF_FORM).numbered_from(1);
    assert_eq!(reader.read(b"SSH").1, Progress::Open);
    assert_eq!(reader.read(b"-2.0").1, Progress::Broken);
}

#[test]
fn numbers_of_frames_begin_anew_after_255() {
    let mut payloads = result_set(EOF_FORM, 0, 0);
    let row = payloads[4].clone();
    payloads.splice(4..4, std::iter::repeat_n(row, 300));
    let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
    let bytes = frames(&payloads);
    let mut reader = AnswerReader::new(Form::Results, EOF_FORM).numbered_from(1);
    assert_eq!(reader.read(&bytes), (bytes.len(), Progress::Done));
    assert_eq!(reader.summary.row_count, 302);
}

#[test]
fn a_row_of_several_frames_is_one_row_whatever_it_begins_with() {
    // The first value is longer than 16 MiB: the row begins with the byte of an EOF packet.
    let mut payload = vec![0xFE];
    payload.extend_from_slice(&(FRAME_PAYLOAD_BYTES_MAX as u64 + 1).to_le_bytes());
    payload.resize(FRAME_PAYLOAD_BYTES_MAX + 10, ERR);
    let whole = result_set(EOF_FORM, 0, 0);
    let head: Vec<&[u8]> = whole[..4].iter().map(Vec::as_slice).collect();
    for rest in [&payload[FRAME_PAYLOAD_BYTES_MAX..], &[][..]] {
        let mut bytes = frames(&head);
        bytes.extend(frame(5, &payload[..FRAME_PAYLOAD_BYTES_MAX]));
        bytes.extend(frame(6, rest));
        bytes.extend(frame(7, &eof(0, 0)));
        for size in [1 << 16, (1 << 16) - 1, bytes.len()] {
            let mut reader = AnswerReader::new(Form::Results, EOF_FORM).numbered_from(1);
            let last = bytes.chunks(size).map(|chunk| reader.read(chunk)).last();
            assert_eq!(last.map(|(_, progress)| progress), Some(Progress::Done));
            assert_eq!(reader.summary.row_count, 1);
            let expected = FRAME_PAYLOAD_BYTES_MAX + rest.len() + 2 * HEADER_BYTES;
            assert_eq!(reader.summary.row_bytes, expected as u64);
        }
    }
}
