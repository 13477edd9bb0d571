//! What an operation looks at. Main type: [`Operand`].

use std::rc::Rc;
use values::{Value, ValueRef};

/// The value of an expression for a row: where it lies, or as it was made.
#[derive(Clone, Debug)]
pub enum Operand<'r> {
    /// A column's or a constant's, where it lies.
    Borrowed(ValueRef<'r>),
    /// One that was made for the row.
    Owned(Value),
    /// One that was made for all rows.
    Shared(Rc<Value>),
}

impl Operand<'_> {
    /// The value, to be looked at.
    #[inline]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Operand::Borrowed(value) => *value,
            Operand::Owned(value) => value.as_ref(),
            Operand::Shared(value) => value.as_ref().as_ref(),
        }
    }

    /// Whether it is NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.as_ref().is_null()
    }

    /// A value of its own.
    pub fn into_value(self) -> Value {
        match self {
            Operand::Borrowed(value) => value.to_value(),
            Operand::Owned(value) => value,
            Operand::Shared(value) => Rc::unwrap_or_clone(value),
        }
    }
}
