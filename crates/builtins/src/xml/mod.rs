//! EXTRACTVALUE and UPDATEXML. An XPath becomes an expression once for a statement ([`path`]); its steps are functions that no name leads
//! to from SQL ([`nodes`]) and that share the state of the call, where the document of the row is.

mod lexer;
mod nodes;
mod path;

use super::string::ANY_LENGTH_CHARACTERS;
use super::{Call, Derivation, FunctionDefinition, acting};
use errors::{SqlResult, code, sql_error};
use expression::result_type::ResultType;
use expression::{BuildFacts, Expression, ExpressionKind, TypedValue};
use functions::xml::{Document, Place};
use path::Operand;
use std::borrow::Cow;
use std::rc::Rc;
use values::{RowRef, Value};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] =
    &[acting("extractvalue", 2, 2, derive, extract_value), acting("updatexml", 3, 3, derive, update_xml)];

/// What a call keeps: the path, and while it looks at a document, that.
struct Work {
    path: Rc<Operand>,
    document: Rc<Document>,
    /// The node that a predicate is asked for, and how many nodes there are beside it.
    context: Option<(Place, u32)>,
    /// The text that is compared now: bytes of the document.
    compared: (u32, u32),
}

/// Text as long as any. Errors: 1105 for a path that is none or is not constant.
fn derive(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let common = derivation.comparison_collation(0..derivation.count())?;
    let path = &derivation.arguments[1];
    let changes = |part: &Expression| match &part.kind {
        ExpressionKind::Column(_) | ExpressionKind::Outer(_) => true,
        ExpressionKind::Function(call) => call.definition.differs_between_rows(),
        _ => false,
    };
    if path.any(&changes) {
        return Err(code::ER_UNKNOWN_ERROR.message("Only constant XPATH queries are supported".to_owned()));
    }
    if let Some(Value::Bytes(text)) = path.literal() {
        let unknown = |_: &str| ResultType::binary(0).nullable();
        path::compile(text, common.collation, 0, derivation.facts, &unknown)?;
    }
    Ok(ResultType::text(ANY_LENGTH_CHARACTERS, common.collation, common.coercibility).nullable())
}

/// Reads the document and the path. None where one is NULL or, with warning 1525, the document is none. Error 1105 for the path.
fn prepare(call: &mut Call<'_>) -> SqlResult<Option<(Rc<Operand>, Rc<Document>)>> {
    let path = match kept_path(call) {
        Some(path) => path,
        None => {
            let Some(text) = call.text(1)? else { return Ok(None) };
            Rc::new(compile(call, &text)?)
        }
    };
    let Some(text) = call.text(0)? else { return Ok(None) };
    call.wait_for(text.len() + Document::node_bytes_max(&text))?;
    let document = match Document::parse(&text, call.interrupt())? {
        Ok(document) => Rc::new(document),
        Err(wrong) => {
            call.warn(sql_error!(ER_WRONG_VALUE, "XML", format!("{wrong}")));
            return Ok(None);
        }
    };
    let work =
        Work { path: Rc::clone(&path), document: Rc::clone(&document), context: None, compared: (0, 0) };
    *call.state() = Some(Box::new(work));
    Ok(Some((path, document)))
}

fn work<'c>(call: &'c mut Call<'_>) -> Option<&'c mut Work> {
    call.state().as_mut().and_then(|state| state.downcast_mut())
}

fn kept_path(call: &mut Call<'_>) -> Option<Rc<Operand>> {
    work(call).map(|work| Rc::clone(&work.path))
}

fn compile(call: &mut Call<'_>, text: &[u8]) -> SqlResult<Operand> {
    let collation = call.result().collation();
    let (site, facts) = (call.call.site, BuildFacts::of(call.context().facts()));
    let session = call.context().session();
    let variable = |name: &str| match session.user_variable(name) {
        Some(TypedValue { column_type, .. }) => ResultType::column(column_type, true),
        None => ResultType::null(),
    };
    path::compile(text, collation, site, facts, &variable)
}

fn extract_value(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some((path, document)) = prepare(call)? else { return Ok(Value::Null) };
    let value = path.value().evaluate(RowRef::EMPTY, call.context())?;
    let text = match &*path {
        Operand::Nodes(_) => {
            let found = nodes::places(&value);
            Some(document.joined_text(found.map(|place| place.node), call.interrupt())?)
        }
        Operand::Scalar { value: scalar, .. } => {
            let shown =
                expression::convert::to_text(value.as_ref(), &scalar.result.column_type, call.context());
            shown.map(Cow::into_owned)
        }
    };
    Ok(text.map_or(Value::Null, Value::Bytes))
}

/// The document with one node replaced; as it is where the path finds none or several, NULL where it finds no nodes but a value.
fn update_xml(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some((path, document)) = prepare(call)? else { return Ok(Value::Null) };
    let Some(new) = call.text(2)? else { return Ok(Value::Null) };
    let Operand::Nodes(nodes) = &*path else { return Ok(Value::Null) };
    let value = nodes.evaluate(RowRef::EMPTY, call.context())?;
    let mut found = nodes::places(&value);
    Ok(match (found.next(), found.next()) {
        (Some(only), None) => Value::Bytes(document.replaced(only.node, &new)),
        // As it was read: its text may be another the next time.
        _ => Value::Bytes(document.text_between(0, document.node(0).whole_end).to_vec()),
    })
}
