use super::*;

const DEPRECATE_EOF: Dialect = Dialect { capabilities: client::DEPRECATE_EOF };
const OLD: Dialect = Dialect { capabilities: 0 };
const PRELUDE: &str = "local proxy = { OK = 0, ERR = 255, RAW = 250 } return ";

fn answer(dialect: Dialect, response: &str) -> (std::result::Result<Reply, String>, Vec<String>) {
    let lua = Lua::new();
    let value: Value = lua.load(format!("{PRELUDE}{response}")).eval().unwrap();
    let mut notes = Vec::new();
    let made = reply(&lua, &value, "x.lua", dialect, &mut notes);
    (made, notes)
}

fn payloads(response: &str) -> Vec<Vec<u8>> {
    let (reply, notes) = answer(OLD, response);
    assert_eq!(notes, Vec::<String>::new());
    reply.unwrap().payloads
}

fn refusal(response: &str) -> String {
    answer(OLD, response).0.unwrap_err()
}

/// A definition's payload.
fn definition_of(name: &str, type_code: u8) -> Vec<u8> {
    let mut payload = b"\x03def\0\0\0".to_vec();
    payload.push(name.len() as u8);
    payload.extend_from_slice(name.as_bytes());
    payload.extend_from_slice(&[0, 12, 8, 0, 32, 0, 0, 0, type_code, 2, 0, 0, 0, 0]);
    payload
}

const EOF: &[u8] = b"\xfe\0\0\x02\0";

#[test]
fn ok_packets_have_the_numbers_that_look_like_numbers() {
    for (fields, expected) in [
        ("", &b"\0\0\0\x02\0\0\0"[..]),
        ("affected_rows = 3, insert_id = 250", b"\0\x03\xfa\x02\0\0\0"),
        ("affected_rows = '5', insert_id = 251", b"\0\x05\xfc\xfb\0\x02\0\0\0"),
        ("affected_rows = 70000", b"\0\xfd\x70\x11\x01\0\x02\0\0\0"),
        ("insert_id = 2 ^ 40", b"\0\0\xfe\0\0\0\0\0\x01\0\0\x02\0\0\0"),
        ("affected_rows = -1", b"\0\xfe\xff\xff\xff\xff\xff\xff\xff\xff\0\x02\0\0\0"),
        ("affected_rows = 'x', insert_id = {}, warning_count = 5, server_status = 8", b"\0\0\0\x02\0\0\0"),
        ("affected_rows = 4, resultset = 'no table'", b"\0\x04\0\x02\0\0\0"),
    ] {
        assert_eq!(payloads(&format!("{{ type = proxy.OK, {fields} }}")), [expected], "{fields}");
    }
    assert_eq!(payloads("{ type = '0' }").len(), 1);
}

#[test]
fn errors_have_a_number_a_state_and_a_text() {
    let long = format!("\u{ff}{}", "e".repeat(600));
    for (fields, number, state, text) in [
        ("errmsg = 'all', errcode = 1064, sqlstate = '42000'", 1064, b"42000", "all"),
        ("errmsg = 5, errcode = '77'", 77, b"07000", "5"),
        ("errmsg = 'm', errcode = 70000, sqlstate = 'HY000more'", 4464, b"HY000", "m"),
        ("errmsg = 'm', sqlstate = 'HY'", 1105, b"HY\0\0\0", "m"),
        ("errmsg = 'm', errno = 1205", 1105, b"07000", "m"),
        ("errcode = 1064, sqlstate = '42000'", 1105, b"07000", "(lua) proxy.response.errmsg is nil"),
        ("errmsg = {}", 1105, b"07000", "(lua) proxy.response.errmsg is nil"),
    ] {
        let (made, _) = answer(OLD, &format!("{{ type = proxy.ERR, {fields} }}"));
        assert_eq!(made, Ok(Reply::error(number, state, text.as_bytes())), "{fields}");
    }
    let cut = payloads(&format!("{{ type = proxy.ERR, errmsg = '{long}' }}"));
    assert_eq!(cut[0].len(), 9 + MESSAGE_BYTES_MAX);
    assert_eq!(Reply::error(1, b"HY", b"x").payloads, [b"\xff\x01\0#HY\0\0\0x"]);
    assert!(Reply::proxy_error("x").is_error);
}

#[test]
fn a_result_set_has_definitions_and_rows() {
    let table = "{ type = proxy.OK, affected_rows = 9, resultset = {
        fields = { { name = 'n', type = 3 }, { name = 5, type = '253' } },
        rows = { { 1, 'a\\0b' }, { 2.5 }, {}, { true, {}, 'beyond' }, { 2 ^ 53, 1e20 } } } }";
    let rows: [&[u8]; 5] =
        [b"\x011\x03a\0b", b"\x032.5\xfb", b"\xfb\xfb", b"\xfb\xfb", b"\x129.007199254741e+15\x051e+20"];
    let mut expected = vec![vec![2], definition_of("n", 3), definition_of("5", 253)];
    let mut old = expected.clone();
    old.push(EOF.to_vec());
    for row in rows {
        old.push(row.to_vec());
        expected.push(row.to_vec());
    }
    old.push(EOF.to_vec());
    expected.push(b"\xfe\0\0\x02\0\0\0".to_vec());
    assert_eq!(payloads(table), old);
    assert_eq!(answer(DEPRECATE_EOF, table).0, Ok(Reply { payloads: expected, is_error: false }));
}

#[test]
fn rows_end_at_a_hole_and_may_be_none() {
    let with = |rows: &str| {
        payloads(&format!(
            "{{ type = proxy.OK, resultset = {{ fields = {{ {{ name = 'n', type = 3 }} }}, rows = {rows} }} }}"
        ))
    };
    assert_eq!(with("{ { 1 }, nil, { 3 } }").len(), 3 + 1 + 1);
    assert_eq!(with("{}").len(), 3 + 1);
}

#[test]
fn many_columns_are_counted_in_two_bytes_and_too_many_are_cut() {
    let many = |columns: usize| {
        let lua = format!(
            "(function () local f = {{}} for i = 1, {columns} do f[i] = {{ name = 'c', type = 3 }} end return {{ type = proxy.OK, resultset = {{ fields = f, rows = {{ {{}} }} }} }} end)()"
        );
        payloads(&lua)
    };
    let made = many(251);
    assert_eq!(made[0], b"\xfc\xfb\0");
    assert_eq!(made[253], vec![0xFB; 251]);
    assert_eq!(many(COLUMNS_MAX + 1)[0], b"\xfc\0\x10");
}

#[test]
fn fields_without_name_or_type_get_one_and_are_told() {
    let (made, notes) = answer(
        OLD,
        "{ type = proxy.OK, resultset = { fields = { { type = 3 }, { name = 'x', type = {} } }, rows = {} } }",
    );
    assert_eq!(made.unwrap().payloads[1..3], [definition_of("no-field-name", 3), definition_of("x", 254)]);
    let expected = [
        "proxy.response.type = OK, but proxy.response.resultset.fields[1].name is not a string (is nil), using default",
        "proxy.response.type = OK, but proxy.response.resultset.fields[2].type is not a integer (is table), using MYSQL_TYPE_STRING",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn raw_packets_go_out_as_they_are() {
    assert_eq!(payloads("{ type = proxy.RAW, packets = { 'a\\0', 5, '' } }"), [&b"a\0"[..], b"5", b""]);
    assert_eq!(payloads("{ type = proxy.RAW, packets = { 'a', nil, 'c' } }"), [b"a"]);
    let (made, _) = answer(OLD, "{ type = proxy.RAW, packets = { '\\255error' } }");
    assert!(made.unwrap().is_error);
}

#[test]
fn what_is_no_response_is_told_to_the_log() {
    for (response, expected) in [
        ("nil", "proxy.response isn't set in x.lua"),
        ("'text'", "proxy.response has to be a table, is string in x.lua"),
        ("{}", "proxy.response.type isn't set in x.lua"),
        ("{ type = true }", "proxy.response.type has to be a number, is boolean in x.lua"),
        ("{ type = 'words' }", "proxy.response.type has to be a number, is string in x.lua"),
        ("{ type = 254 }", "proxy.response.type is unknown: 254"),
        ("{ type = proxy.RAW }", "proxy.response.packets has to be a table, is nil in x.lua"),
        (
            "{ type = proxy.RAW, packets = 'p' }",
            "proxy.response.packets has to be a table, is string in x.lua",
        ),
        ("{ type = proxy.RAW, packets = {} }", "proxy.response.packets is empty"),
        ("{ type = proxy.RAW, packets = { {} } }", "proxy.response.packets has to be a table of strings"),
        (
            "{ type = proxy.OK, resultset = { rows = {} } }",
            "proxy.response.resultset.fields has to be a table",
        ),
        (
            "{ type = proxy.OK, resultset = { fields = {} } }",
            "proxy.response.resultset.rows has to be a table",
        ),
        (
            "{ type = proxy.OK, resultset = { fields = {}, rows = {} } }",
            "proxy.response.resultset.fields is empty",
        ),
        (
            "{ type = proxy.OK, resultset = { fields = { 1 }, rows = {} } }",
            "proxy.response.resultset.fields[1] has to be a table",
        ),
        (
            "{ type = proxy.OK, resultset = { fields = { { name = 'n', type = 3 } }, rows = { 'x' } } }",
            "proxy.response.resultset.rows[1] has to be a table",
        ),
    ] {
        assert_eq!(refusal(response), expected, "{response}");
    }
}
