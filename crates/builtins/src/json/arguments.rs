//! Arguments of the JSON functions: documents, values that become documents, paths. Main type: [`Document`].

use crate::Call;
use charset::CollationId;
use errors::{SqlError, SqlResult, sql_error};
use expression::DocumentWatch;
use expression::operand::Operand;
use expression::result_type::TypeClass;
use json::Path;
use std::borrow::Cow;
use std::rc::Rc;
use values::json::{Built, Node};
use values::{TypeKind, Value, ValueRef};

/// The bytes of a document that an argument is or was made of.
pub(super) enum Document<'a> {
    /// What the argument is.
    Given(Operand<'a>),
    /// What its text says.
    Made(Vec<u8>),
}

impl Document<'_> {
    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Document::Given(operand) => operand.as_ref().long_bytes(),
            Document::Made(bytes) => bytes.len(),
        }
    }

    /// The document, to be looked at.
    pub fn node(&self) -> Node<'_> {
        match self {
            Document::Given(operand) => match operand.as_ref() {
                ValueRef::Bytes(bytes) => Node::of(bytes),
                _ => Node::Null,
            },
            Document::Made(bytes) => Node::of(bytes),
        }
    }
}

/// What the JSON functions ask of a call's arguments.
pub(super) trait Arguments<'a> {
    /// An argument as a document; None for NULL. Its text is read as JSON: errors 3141, 3144, 3157; error 3146 for what is neither.
    fn document(&mut self, index: usize) -> SqlResult<Option<Document<'a>>>;
    /// An argument as a value in a document; NULL is the document null.
    fn element(&mut self, index: usize) -> SqlResult<Vec<u8>>;
    /// An argument as text in utf8mb4; None for NULL. Bytes stay what they are.
    fn utf8_bytes(&mut self, index: usize) -> SqlResult<Option<Cow<'a, [u8]>>>;
    /// An argument as a path; None for NULL. Errors 3143, 3144 for bytes, and 3149 for one with wildcards where `is_single`. A path that was
    /// read in the row before is not read again.
    fn path(&mut self, index: usize, is_single: bool) -> SqlResult<Option<Rc<Path>>>;
    /// The arguments from one on as paths; None if one is NULL.
    fn paths(&mut self, from: usize, is_single: bool) -> SqlResult<Option<Vec<Rc<Path>>>>;
}

impl<'a> Arguments<'a> for Call<'a> {
    fn document(&mut self, index: usize) -> SqlResult<Option<Document<'a>>> {
        let operand = self.operand(index)?;
        let name = self.name();
        let argument = self.argument(index);
        let ValueRef::Bytes(text) = operand.as_ref() else {
            // NULL of a type that is no JSON is an error, too.
            let may_be = matches!(argument.class(), TypeClass::Text | TypeClass::Json | TypeClass::Null);
            return match operand.is_null() && may_be {
                true => Ok(None),
                false => Err(wrong_type(index, name)),
            };
        };
        if argument.kind() == TypeKind::Json {
            return Ok(Some(Document::Given(operand)));
        }
        if argument.class() != TypeClass::Text {
            return Err(wrong_type(index, name));
        }
        if argument.collation() == CollationId::BINARY {
            return Err(sql_error!(ER_INVALID_JSON_CHARSET, "binary"));
        }
        let watch = DocumentWatch::new(self.context());
        let made = expression::json::parsed(text, argument.collation(), index + 1, name, &watch)?;
        drop(watch);
        self.wait_for(made.len())?;
        Ok(Some(Document::Made(made)))
    }

    fn element(&mut self, index: usize) -> SqlResult<Vec<u8>> {
        let operand = self.operand(index)?;
        match operand.as_ref() {
            ValueRef::Null => Ok(values::json::NULL.to_vec()),
            ValueRef::Bytes(document) if self.argument(index).kind() == TypeKind::Json => {
                Ok(document.to_vec())
            }
            value => {
                let connection = self.context().facts().connection_collation;
                expression::json::scalar(value, self.expression(index), connection)?.encode()
            }
        }
    }

    fn utf8_bytes(&mut self, index: usize) -> SqlResult<Option<Cow<'a, [u8]>>> {
        let collation = self.text_collation(index);
        let Some(text) = self.text(index)? else { return Ok(None) };
        let (source, utf8) = (collation.charset(), CollationId::UTF8MB4_BIN.charset());
        if source.converts_unchanged(&text, utf8) {
            return Ok(Some(text));
        }
        Ok(Some(Cow::Owned(source.convert(&text, utf8).text)))
    }

    fn path(&mut self, index: usize, is_single: bool) -> SqlResult<Option<Rc<Path>>> {
        let Some(text) = self.utf8_bytes(index)? else { return Ok(None) };
        // The names of members come from paths: what is no text must not get into a document.
        if self.text_collation(index) == CollationId::BINARY {
            return Err(sql_error!(ER_INVALID_JSON_CHARSET, "binary"));
        }
        let known = known_paths(self).get(index).and_then(Option::as_ref);
        if let Some((_, path)) = known.filter(|(known, _)| known[..] == text[..]) {
            return Ok(Some(Rc::clone(path)));
        }
        let path = Rc::new(if is_single { Path::parse_single(&text)? } else { Path::parse(&text)? });
        let kept = known_paths(self);
        if kept.len() <= index {
            kept.resize(index + 1, None);
        }
        kept[index] = Some((text.into_owned(), Rc::clone(&path)));
        Ok(Some(path))
    }

    fn paths(&mut self, from: usize, is_single: bool) -> SqlResult<Option<Vec<Rc<Path>>>> {
        let mut paths = Vec::with_capacity(self.count().saturating_sub(from));
        for index in from..self.count() {
            match self.path(index, is_single)? {
                Some(path) => paths.push(path),
                None => return Ok(None),
            }
        }
        Ok(Some(paths))
    }
}

/// The paths that the call has read. Nothing else is kept for a function of documents.
fn known_paths<'c>(call: &'c mut Call<'_>) -> &'c mut KnownPaths {
    let state = call.state().get_or_insert_with(|| Box::new(KnownPaths::new()));
    state.downcast_mut::<KnownPaths>().expect("a call site is of one function")
}

/// Paths by the number of the argument, with the texts that they were read of.
type KnownPaths = Vec<Option<(Vec<u8>, Rc<Path>)>>;

fn wrong_type(index: usize, name: &str) -> SqlError {
    sql_error!(ER_INVALID_TYPE_FOR_JSON, index + 1, name)
}

/// What a function made, as its value. Error 1301 for a document that is longer than a packet may be.
pub(super) fn encoded(call: &mut Call<'_>, built: &Built<'_>) -> SqlResult<Value> {
    made(built, &DocumentWatch::new(call.context()))
}

/// The same where the watch was asked before.
pub(super) fn made(built: &Built<'_>, watch: &DocumentWatch<'_>) -> SqlResult<Value> {
    built.encode_within(watch.bytes_max(), watch).map(Value::Bytes)
}

/// A truth value as functions give it.
pub(super) fn truth(is_so: bool) -> Value {
    Value::Int(i64::from(is_so))
}

/// References to the paths.
pub(super) fn borrowed(paths: &[Rc<Path>]) -> Vec<&Path> {
    paths.iter().map(|path| &**path).collect()
}
