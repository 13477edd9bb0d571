//! JSON_SCHEMA_VALID and JSON_SCHEMA_VALIDATION_REPORT: [`schema_check`] and [`schema_report`], for JSON Schema draft 4. Keywords are
//! tried in MySQL's order, so that the first failure is the one that MySQL reports. References are refused, also those
//! within the schema: they would let a small schema take exponential time. Members are checked in the order that documents have
//! them; MySQL takes those of a text as they stand there.

mod containers;
mod scalars;

use errors::{SqlError, SqlResult, sql_error};
use std::borrow::Cow;
use std::cell::RefCell;
use values::json::{Built, Members, Node, Object, Watch, compare, print};

/// Whether a text matches a regular expression somewhere, pattern first; None if the pattern is none.
pub type PatternMatch<'m> = &'m dyn Fn(&[u8], &[u8]) -> Option<bool>;

/// The first requirement that a document fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFailure {
    /// What has the requirement, as a pointer in a URI: `#/properties/a`.
    pub schema_location: String,
    /// What fails it.
    pub document_location: String,
    /// The requirement's name.
    pub keyword: &'static str,
}

/// The first requirement of a schema that the document fails. Errors: ER_INVALID_JSON_TYPE if the schema is no object, and
/// ER_NOT_SUPPORTED_YET if it has references; and those of the watch.
pub fn schema_check(
    schema: Node<'_>,
    document: Node<'_>,
    function: &str,
    matches: PatternMatch<'_>,
    watch: &dyn Watch,
) -> SqlResult<Option<SchemaFailure>> {
    let Node::Object(schema_object) = schema else {
        return Err(sql_error!(ER_INVALID_JSON_TYPE, 1, function, "object"));
    };
    if has_reference(schema) {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "references in JSON Schema"));
    }
    let validator = Validator { matches, watch, stopped: RefCell::new(None) };
    let checked = validator.check(schema_object, document);
    if let Some(error) = validator.stopped.take() {
        return Err(error);
    }
    let Err(failure) = checked else { return Ok(None) };
    Ok(Some(SchemaFailure {
        schema_location: pointer(&failure.schema_way),
        document_location: pointer(&failure.document_way),
        keyword: failure.keyword,
    }))
}

/// The report of a check, as an object.
pub fn schema_report(failure: Option<&SchemaFailure>) -> Built<'static> {
    let text = |text: &str| Built::String(Cow::Owned(text.as_bytes().to_vec()));
    let mut members = Members::new();
    members.insert(b"valid".as_slice(), Built::Boolean(failure.is_none()));
    if let Some(failure) = failure {
        let reason = format!(
            "The JSON document location '{}' failed requirement '{}' at JSON Schema location '{}'",
            failure.document_location, failure.keyword, failure.schema_location
        );
        members.insert(b"reason".as_slice(), text(&reason));
        members.insert(b"schema-location".as_slice(), text(&failure.schema_location));
        members.insert(b"document-location".as_slice(), text(&failure.document_location));
        members.insert(b"schema-failed-keyword".as_slice(), text(failure.keyword));
    }
    Built::Object(members)
}

/// A failure on the way out to the whole document.
#[derive(Debug)]
struct Failure {
    keyword: &'static str,
    /// From the inside outwards.
    schema_way: Vec<Vec<u8>>,
    /// From the inside outwards.
    document_way: Vec<Vec<u8>>,
    /// MySQL gives failures of `patternProperties` to the whole schema.
    is_at_root: bool,
}

type Checked = Result<(), Failure>;

impl Failure {
    fn of(keyword: &'static str) -> Failure {
        Failure { keyword, schema_way: Vec::new(), document_way: Vec::new(), is_at_root: false }
    }

    /// The failure as seen from outside: the schema is behind these keys.
    fn behind(mut self, keys: &[&[u8]]) -> Failure {
        if !self.is_at_root {
            self.schema_way.extend(keys.iter().rev().map(|key| key.to_vec()));
        }
        self
    }

    /// The failure as seen from outside: the value is behind this key.
    fn within(mut self, key: &[u8]) -> Failure {
        self.document_way.push(key.to_vec());
        self
    }
}

/// Fails with the keyword if the requirement is not met.
fn require(is_met: bool, keyword: &'static str) -> Checked {
    if is_met { Ok(()) } else { Err(Failure::of(keyword)) }
}

struct Validator<'m> {
    matches: PatternMatch<'m>,
    watch: &'m dyn Watch,
    /// Why nothing is checked any more: all fails at once.
    stopped: RefCell<Option<SqlError>>,
}

impl Validator<'_> {
    /// Checks a value. Each call goes deeper in the schema, so there are not more at a time than it is deep.
    fn check(&self, schema: Object<'_>, value: Node<'_>) -> Checked {
        if self.stopped.borrow().is_none() {
            *self.stopped.borrow_mut() = self.watch.go_on(0).err();
        }
        require(self.stopped.borrow().is_none(), "stopped")?;
        if let Node::Opaque(_) = value {
            return self.check_opaque(schema, value);
        }
        scalars::check_type(schema, value)?;
        match value {
            Node::Int(_) | Node::UInt(_) | Node::Double(_) => scalars::check_number(schema, value)?,
            Node::String(text) => scalars::check_string(schema, text, self.matches)?,
            Node::Array(array) => self.check_array(schema, array)?,
            Node::Object(object) => self.check_object(schema, object)?,
            _ => (),
        }
        self.check_combined(schema, value)
    }

    /// Values of other SQL types are checked as they are printed: as numbers or as strings.
    fn check_opaque(&self, schema: Object<'_>, value: Node<'_>) -> Checked {
        let mut text = Vec::new();
        print(value, &mut text);
        if let Some(content) = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) {
            return self.check(schema, Node::String(content));
        }
        let number = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
        self.check(schema, Node::Double(number.unwrap_or_default()))
    }

    /// What is asked of values of all kinds.
    fn check_combined(&self, schema: Object<'_>, value: Node<'_>) -> Checked {
        if let Some(Node::Array(allowed)) = schema.get(b"enum") {
            let is_allowed = allowed.is_empty() || allowed.iter().any(|one| compare(one, value).is_eq());
            require(is_allowed, "enum")?;
        }
        let valid_count = |schemas: Node<'_>| match schemas {
            Node::Array(schemas) => {
                let count = schemas.iter().filter(|schema| self.is_valid(*schema, value)).count();
                Some((count, schemas.len()))
            }
            _ => None,
        };
        if let Some((valid, all)) = schema.get(b"allOf").and_then(valid_count) {
            require(valid == all, "allOf")?;
        }
        if let Some((valid, all)) = schema.get(b"anyOf").and_then(valid_count) {
            require(valid > 0 || all == 0, "anyOf")?;
        }
        if let Some((valid, all)) = schema.get(b"oneOf").and_then(valid_count) {
            require(valid == 1 || all == 0, "oneOf")?;
        }
        match schema.get(b"not") {
            Some(not) => require(!self.is_valid(not, value), "not"),
            None => Ok(()),
        }
    }

    /// Whether a value is valid; a schema that is no object asks nothing.
    fn is_valid(&self, schema: Node<'_>, value: Node<'_>) -> bool {
        match schema {
            Node::Object(schema) => self.check(schema, value).is_ok(),
            _ => true,
        }
    }
}

/// Whether there is a member `$ref` with a string anywhere.
fn has_reference(node: Node<'_>) -> bool {
    match node {
        Node::Array(array) => array.iter().any(has_reference),
        Node::Object(object) => {
            matches!(object.get(b"$ref"), Some(Node::String(_)))
                || object.iter().any(|(_, value)| has_reference(value))
        }
        _ => false,
    }
}

/// A JSON pointer in a URI's fragment, from the keys outwards.
fn pointer(way: &[Vec<u8>]) -> String {
    let mut text = "#".to_owned();
    for key in way.iter().rev() {
        text.push('/');
        for &byte in key {
            match byte {
                b'~' => text.push_str("~0"),
                b'/' => text.push_str("~1"),
                b'-' | b'.' | b'_' => text.push(char::from(byte)),
                _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    text
}
