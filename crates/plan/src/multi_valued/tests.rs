//! Documents and what a part's column holds of them. What MySQL makes of each is in the golden `dml/multi_valued_indexes`.

use super::*;
use dictionary::{ColumnDefault, GeneratedColumn, key_column_name};
use values::json::Unwatched;

fn column(element_type: ColumnType) -> ColumnDefinition {
    ColumnDefinition {
        name: key_column_name("k", 0),
        column_type: ColumnType::new(TypeKind::Json),
        nullable: true,
        default: ColumnDefault::None,
        generated: Some(GeneratedColumn {
            text: String::new(),
            stored: false,
            is_key_part: true,
            element_type: Some(element_type),
        }),
        on_update_now: None,
        auto_increment: false,
        invisible: true,
        names_collation: false,
        comment: String::new(),
    }
}

/// The column's text, or the number of the error and of what stands behind it.
fn held(text: &str, element_type: ColumnType, strict: bool) -> Result<String, Vec<u16>> {
    let column = column(element_type);
    let mode = StoreMode { strict, ..StoreMode::default() };
    let part = MultiValuedPart::new(&column, 1, mode).expect("it is such a part");
    let document = json::parse(text.as_bytes(), 1, "test", &Unwatched).expect("it is JSON");
    let mut diagnostics = Diagnostics::new(64);
    match part.value(&document, &mut diagnostics, &Unwatched) {
        Ok(array) => {
            let mut shown = Vec::new();
            json::print(Node::of(&array), &mut shown);
            Ok(String::from_utf8(shown).expect("JSON is text"))
        }
        Err(error) => {
            diagnostics.push_last(error);
            Err(diagnostics.conditions().iter().map(|condition| condition.error.number()).collect())
        }
    }
}

fn text(characters: u32) -> ColumnType {
    ColumnType::varchar(characters, CollationId::UTF8MB4_0900_BIN)
}

#[test]
fn elements_are_of_the_type_each_once_and_in_order() {
    let check = |text: &str, element_type: ColumnType, array: &str| {
        assert_eq!(held(text, element_type, true).as_deref(), Ok(array), "{text}");
    };
    check("[3, \"1\", 2.5, 1, true]", ColumnType::big_int_unsigned(), "[1, 2, 3]");
    check("[18446744073709551615, 1]", ColumnType::big_int_unsigned(), "[1, 18446744073709551615]");
    check("[3, -1, \"-2\"]", ColumnType::big_int(), "[-2, -1, 3]");
    check("7", ColumnType::big_int(), "[7]");
    check("[]", ColumnType::big_int(), "[]");
    check("[1.25, -2, \"1.3\"]", ColumnType::decimal(4, 1), "[-2.0, 1.3]");
    check("[\"b\", \"a \", \"a\", \"B\", 1.0]", text(3), r#"["1.0", "B", "a", "a ", "b"]"#);
    check("[\"b\", \"a\"]", ColumnType::varbinary(3), r#"["base64:type15:YQ==", "base64:type15:Yg=="]"#);
    check("[\"2020-01-02\", 20190101]", ColumnType::new(TypeKind::Date), r#"["2019-01-01", "2020-01-02"]"#);
    check(
        "[\"10:00:00.26\", -1]",
        ColumnType::temporal(TypeKind::Time, 1),
        r#"["-00:00:01.000000", "10:00:00.300000"]"#,
    );
}

#[test]
fn every_form_of_a_number_is_the_same_bytes() {
    let part = column(ColumnType::big_int_unsigned());
    let part = MultiValuedPart::new(&part, 1, StoreMode::default()).expect("it is such a part");
    let of = |text: &str| {
        let document = json::parse(text.as_bytes(), 1, "test", &Unwatched).expect("it is JSON");
        part.value(&document, &mut Diagnostics::new(1), &Unwatched).expect("it fits")
    };
    for other in ["[\"5\"]", "[5.0]", "[4.9]", "5", "[5, 5]"] {
        assert_eq!(of("[5]"), of(other), "{other}");
    }
}

#[test]
fn what_does_not_fit_is_refused_in_every_mode() {
    let check = |text: &str, element_type: ColumnType, strict: &[u16], otherwise: &[u16]| {
        assert_eq!(held(text, element_type.clone(), true), Err(strict.to_vec()), "{text}");
        assert_eq!(held(text, element_type, false), Err(otherwise.to_vec()), "{text}");
    };
    let unsigned = ColumnType::big_int_unsigned;
    check("{}", unsigned(), &[1235], &[1235]);
    check("true", unsigned(), &[1235], &[1235]);
    check("null", unsigned(), &[3903], &[3903]);
    check("[1, null]", unsigned(), &[3903], &[3903]);
    check("[[1]]", unsigned(), &[3908], &[3908]);
    // By the numbers that columns have for them.
    check("[\"x\"]", unsigned(), &[3156, 3752], &[3156, 3752]);
    check("[1e30]", unsigned(), &[3155, 3752], &[3155, 3752]);
    check("[-1]", unsigned(), &[1264, 3752], &[1264, 3752]);
    check("[\"abcd\"]", text(3), &[1406, 3752], &[1265, 3752]);
    check("[\"x\"]", ColumnType::new(TypeKind::Date), &[1292, 3752], &[1265, 3752]);
    check("[\"\"]", ColumnType::new(TypeKind::Time), &[3752], &[3752]);
}

#[test]
fn rows_have_room_for_so_many_entries() {
    let numbers = |count: usize| {
        format!("[{}]", (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(","))
    };
    assert!(held(&numbers(8192), ColumnType::big_int(), true).is_ok());
    assert_eq!(held(&numbers(8193), ColumnType::big_int(), true), Err(vec![3905]));
    assert!(held(&format!("[{}1]", "1,".repeat(100_000)), ColumnType::big_int(), true).is_ok());
    // The text of each and two bytes.
    assert!(held(&numbers(9_000), text(10), true).is_ok());
    assert_eq!(held(&numbers(12_000), text(10), true), Err(vec![3906]));
}
