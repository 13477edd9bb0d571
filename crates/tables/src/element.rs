//! The entries that a row has in an index: one, or one for each element of the array that a multi-valued part holds. Main types:
//! [`Element`], [`Elements`]. Rules E1 to E5 in the engine's README.

use crate::Index;
use dictionary::TableDefinition;
use engine_error::{EngineError, EngineResult};
use values::json::{Array, ArrayIter, Node, element_value};
use values::key::{ENCODED_BYTES_MAX, KeyError};
use values::row::RowView;
use values::{ColumnType, Value};

/// The part of an index that has a value for each element of an array.
#[derive(Debug)]
pub(crate) struct ElementPart {
    /// Its place among the parts.
    place: usize,
    /// The column that has the array.
    column: usize,
    element_type: ColumnType,
}

impl ElementPart {
    /// That of an index over those columns, if it has one.
    pub(crate) fn of(definition: &TableDefinition, key_columns: &[usize]) -> Option<ElementPart> {
        let type_of = |column: usize| definition.columns[column].element_type();
        key_columns.iter().enumerate().find_map(|(place, &column)| {
            Some(ElementPart { place, column, element_type: type_of(column)?.clone() })
        })
    }

    /// The array of a row; None for NULL.
    fn array<'r>(&self, row: &RowView<'r>) -> EngineResult<Option<Array<'r>>> {
        match row.raw(self.column).map(Node::of) {
            None => Ok(None),
            Some(Node::Array(array)) => Ok(Some(array)),
            Some(_) => Err(EngineError::Corrupt("a multi-valued key part is no array".to_owned())),
        }
    }
}

/// What tells an entry of a row from its others in the same index.
#[derive(Clone, Copy, Debug)]
pub enum Element<'r> {
    /// Nothing: the row has one entry.
    Only,
    /// The row has no array, and one entry with NULL.
    Null,
    /// An element of the row's array.
    Of(Node<'r>),
}

/// The entries that a row has in an index, those of an array in the order of its elements.
#[derive(Debug)]
pub enum Elements<'r> {
    /// One.
    One(Option<Element<'r>>),
    /// One for each element.
    Each(ArrayIter<'r>),
}

impl<'r> Iterator for Elements<'r> {
    type Item = Element<'r>;

    #[inline]
    fn next(&mut self) -> Option<Element<'r>> {
        match self {
            Elements::One(element) => element.take(),
            Elements::Each(elements) => elements.next().map(Element::Of),
        }
    }
}

impl Index {
    /// Whether a row may have any number of entries.
    #[inline]
    pub fn is_multi_valued(&self) -> bool {
        self.element_part.is_some()
    }

    /// The column whose arrays have an entry for each element.
    #[inline]
    pub fn array_column(&self) -> Option<usize> {
        self.element_part.as_ref().map(|part| part.column)
    }

    /// The entries of a row in the table's layout. Error: Corrupt.
    #[inline]
    pub fn elements<'r>(&self, row: &RowView<'r>) -> EngineResult<Elements<'r>> {
        let Some(part) = &self.element_part else { return Ok(Elements::One(Some(Element::Only))) };
        Ok(match part.array(row)? {
            None => Elements::One(Some(Element::Null)),
            Some(array) => Elements::Each(array.iter()),
        })
    }

    /// Appends the own key of an entry of a row in the table's layout, as far as entries hold it. Errors: TooBig, Corrupt.
    #[inline]
    pub fn own_key(&self, row: &RowView<'_>, element: Element<'_>, out: &mut Vec<u8>) -> EngineResult<()> {
        let start = out.len();
        let encoded = match element {
            Element::Only => self.key_layout.encode_row(row, &self.key_columns, out),
            element => self.encode_element(row, element, out),
        };
        encoded.map_err(|error| match error {
            KeyError::TooLong => {
                EngineError::TooBig { bytes: ENCODED_BYTES_MAX + 1, bytes_max: ENCODED_BYTES_MAX }
            }
            other => EngineError::Corrupt(other.to_string()),
        })?;
        self.fit_own_key(out, start);
        Ok(())
    }

    #[inline(never)]
    fn encode_element(
        &self,
        row: &RowView<'_>,
        element: Element<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), KeyError> {
        let Some(part) = &self.element_part else { return Err(KeyError::Corrupt) };
        let value = match element {
            Element::Of(node) => element_value(node, &part.element_type).ok_or(KeyError::Corrupt)?,
            Element::Only | Element::Null => Value::Null,
        };
        self.key_layout.encode_row_with(row, &self.key_columns, (part.place, &value), out)
    }

    /// Whether some entry of the row has that own key.
    pub fn yields(&self, row: &RowView<'_>, own_key: &[u8]) -> EngineResult<bool> {
        let mut key = Vec::with_capacity(own_key.len());
        for element in self.elements(row)? {
            key.clear();
            self.own_key(row, element, &mut key)?;
            if key == own_key {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether two rows have an entry of the same key.
    pub fn yields_same(&self, one: &RowView<'_>, other: &RowView<'_>) -> EngineResult<bool> {
        let mut key = Vec::new();
        for element in self.elements(one)? {
            key.clear();
            self.own_key(one, element, &mut key)?;
            if self.yields(other, &key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
