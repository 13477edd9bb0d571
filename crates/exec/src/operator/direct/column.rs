//! Columns and simple expressions over stored rows. Main types: [`StoredColumn`], [`DirectKey`].

pub(super) use crate::operator::table::stored_layout as layout;

use crate::operator::table::stored_position;
use expression::{Expression, ExpressionKind};
use plan::physical::TableAccess;
use values::row::{Form, IntegerColumn, RowLayout, RowView};
use values::{ColumnType, TypeKind, Value};

/// A column of the rows that a scan hands out.
#[derive(Clone, Debug)]
pub struct StoredColumn<'p> {
    /// Its position in these rows.
    pub position: usize,
    /// Its type.
    pub column_type: &'p ColumnType,
}

impl<'p> StoredColumn<'p> {
    /// The column that an expression is, if the access fills its slot.
    pub fn of(access: &'p TableAccess, expression: &Expression) -> Option<StoredColumn<'p>> {
        let slot = expression.column_slot()?;
        let (column, _) = access.columns.iter().find(|(_, filled)| *filled == slot)?;
        Some(StoredColumn::at(access, *column))
    }

    /// A column that the access reads.
    pub fn at(access: &'p TableAccess, column: usize) -> StoredColumn<'p> {
        let position = stored_position(access, column);
        let column_type = &access.table.definition().columns[column].column_type;
        StoredColumn { position, column_type }
    }

    /// Its reader, if it is an integer that fits an `i64`.
    pub fn integer(&self, layout: &RowLayout) -> Option<IntegerColumn> {
        let reader = layout.integer_column(self.position)?;
        self.column_type.kind.is_integer().then_some(reader)
    }

    /// Its reader, if it is stored as an integer that orders as its values do and has no zone.
    pub fn ordered(&self, layout: &RowLayout) -> Option<IntegerColumn> {
        let orders = match self.column_type.kind {
            TypeKind::Date | TypeKind::DateTime | TypeKind::Decimal => true,
            kind => kind.is_integer(),
        };
        layout.ordered_column(self.position).filter(|_| orders)
    }

    /// Its reader, if its values are exact numbers of which many can be summed up, and their digits after the point.
    pub fn exact(&self, layout: &RowLayout) -> Option<(IntegerColumn, u8)> {
        let scale = match self.column_type.kind {
            TypeKind::Decimal => self.column_type.scale(),
            kind if kind.is_integer() => 0,
            _ => return None,
        };
        Some((layout.ordered_column(self.position)?, scale))
    }

    /// Whether its values are text of a character set.
    pub fn is_text(&self) -> bool {
        Form::of(self.column_type) == Form::Bytes && !self.column_type.kind.is_binary()
    }

    /// Whether its values are bytes that are equal only when they are the same.
    pub fn is_plain_bytes(&self) -> bool {
        Form::of(self.column_type) == Form::Bytes
            && (self.column_type.kind.is_binary() || self.column_type.collation.get().is_plain_bytes())
    }

    /// Whether the packed integer of its stored form orders as its values do and a value can be made of it.
    pub fn is_packed(&self) -> bool {
        use TypeKind::{BigInt, Date, DateTime, Int, MediumInt, SmallInt, Time, TinyInt, Year};
        match self.column_type.kind {
            TypeKind::Decimal => matches!(Form::of(self.column_type), Form::Decimal { width: 4 | 8, .. }),
            TinyInt | SmallInt | MediumInt | Int | Year | Date | DateTime | Time => true,
            BigInt => !self.column_type.unsigned,
            _ => false,
        }
    }
}

/// A group key that is read straight from a row.
#[derive(Clone, Debug)]
pub enum DirectKey<'p> {
    /// An integer column.
    Integer(IntegerColumn, &'p ColumnType),
    /// Bytes of a column from `start` on, at most `length`.
    Bytes {
        /// Position in the row.
        position: usize,
        /// First byte.
        start: usize,
        /// Most bytes.
        length: usize,
    },
}

impl<'p> DirectKey<'p> {
    /// The key that an expression is, if it can be read so: an integer column, a column of plain bytes, or SUBSTRING of a
    /// binary one from a constant place on.
    pub fn of(access: &'p TableAccess, expression: &Expression) -> Option<DirectKey<'p>> {
        if let Some(column) = StoredColumn::of(access, expression) {
            if let Some(integer) = column.integer(layout(access)) {
                return Some(DirectKey::Integer(integer, column.column_type));
            }
            let whole = DirectKey::Bytes { position: column.position, start: 0, length: usize::MAX };
            return column.is_plain_bytes().then_some(whole);
        }
        let ExpressionKind::Function(call) = &expression.kind else { return None };
        if !matches!(call.definition.name, "substring" | "substr" | "mid") {
            return None;
        }
        let [text, start, length] = &call.arguments[..] else { return None };
        let column = StoredColumn::of(access, text)?;
        let (start, length) = (positive(start)?, positive(length)?);
        // Characters are bytes.
        column.column_type.kind.is_binary().then(|| DirectKey::Bytes {
            position: column.position,
            start: start - 1,
            length,
        })
    }
}

fn positive(expression: &Expression) -> Option<usize> {
    match expression.literal()? {
        Value::Int(number) if *number > 0 => usize::try_from(*number).ok(),
        Value::UInt(number) if *number > 0 => usize::try_from(*number).ok(),
        _ => None,
    }
}

/// The bytes of a key of [`DirectKey::Bytes`]; None for NULL.
pub fn key_bytes<'r>(view: &RowView<'r>, position: usize, start: usize, length: usize) -> Option<&'r [u8]> {
    let bytes = view.raw(position)?;
    let rest = bytes.get(start..).unwrap_or_default();
    Some(&rest[..rest.len().min(length)])
}
