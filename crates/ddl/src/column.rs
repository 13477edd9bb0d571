//! A column specification checked and turned into a [`ColumnDefinition`]. Main type: [`ColumnDraft`].

use super::limits;
use super::stored_expression::{Purpose, stored_text};
use crate::definer::Definer;
use charset::CollationId;
use dictionary::{ColumnDefault, ColumnDefinition, GeneratedColumn};
use errors::{SqlResult, sql_error};
use expression::SqlMode;
use parser::ast::{ColumnAttribute, ColumnSpecification, DataTypeKind, Expression, Literal};
use values::store::{Documents, Source, StoreContext, StoreMode, store};
use values::temporal::DateRules;
use values::{ColumnType, TypeKind, Value};

/// A column with what its attributes say about keys.
#[derive(Clone, Debug)]
pub(super) struct ColumnDraft {
    pub definition: ColumnDefinition,
    /// PRIMARY KEY among the attributes.
    pub primary: bool,
    /// UNIQUE among the attributes.
    pub unique: bool,
    /// NULL was said: the column cannot be part of a primary key.
    pub explicit_null: bool,
}

impl Definer<'_> {
    /// Errors: 1059, 1063, 1067, 1101, 1166, 1235, 1294 and those of the type.
    pub(super) fn column_draft(
        &mut self,
        specification: &ColumnSpecification,
        table_collation: CollationId,
    ) -> SqlResult<ColumnDraft> {
        let name = &specification.name;
        check_column_name(name)?;
        let collate = specification.attributes.iter().find_map(|attribute| match attribute {
            ColumnAttribute::Collate(collation) => Some(collation.as_str()),
            _ => None,
        });
        let column_type =
            self.types().column_type(name, &specification.data_type, collate, table_collation)?;
        let variable = [TypeKind::VarChar, TypeKind::VarBinary].map(DataTypeKind::Stored);
        if variable.contains(&specification.data_type.kind) && column_type.kind.is_large_object() {
            let is_default = |attribute: &ColumnAttribute| matches!(attribute, ColumnAttribute::Default(value) if *value != Expression::Literal(Literal::Null));
            let has_default = specification.attributes.iter().any(is_default);
            self.types().note_lengthened(name, &column_type, has_default)?;
        }
        let serial = specification.data_type.kind == DataTypeKind::Serial;
        let mut draft = ColumnDraft {
            definition: ColumnDefinition {
                name: name.clone(),
                column_type,
                nullable: !serial,
                default: ColumnDefault::None,
                generated: None,
                on_update_now: None,
                auto_increment: serial,
                invisible: false,
                names_collation: specification.data_type.charset.is_some()
                    || specification.data_type.collation.is_some()
                    || collate.is_some(),
                comment: String::new(),
            },
            primary: false,
            unique: serial,
            explicit_null: false,
        };
        for attribute in &specification.attributes {
            self.apply_attribute(&mut draft, attribute)?;
        }
        check_column(&draft)?;
        Ok(draft)
    }

    fn apply_attribute(&mut self, draft: &mut ColumnDraft, attribute: &ColumnAttribute) -> SqlResult<()> {
        use ColumnAttribute as A;
        let column = &mut draft.definition;
        if column.generated.is_some()
            && let Some(clause) = refused_of_generated(attribute)
        {
            return Err(sql_error!(ER_WRONG_USAGE, clause, "generated column"));
        }
        match attribute {
            A::Null => {
                column.nullable = true;
                draft.explicit_null = true;
            }
            A::NotNull => {
                column.nullable = false;
                draft.explicit_null = false;
            }
            A::Default(_) if matches!(column.default, ColumnDefault::Expression(_)) => {
                return Err(sql_error!(ER_INVALID_DEFAULT, column.name));
            }
            A::Default(value) => column.default = self.default_value_of(column, value)?,
            A::DefaultExpression(expression) => {
                let text = stored_text(self, expression, Purpose::Default(&column.name))?;
                column.default = ColumnDefault::Expression(text);
            }
            A::OnUpdateNow(digits) => {
                let fits = matches!(column.column_type.kind, TypeKind::DateTime | TypeKind::Timestamp)
                    && u64::from(column.column_type.fractional_digits()) == *digits;
                if !fits {
                    return Err(sql_error!(ER_INVALID_ON_UPDATE, column.name));
                }
                column.on_update_now = Some(*digits as u8);
            }
            A::AutoIncrement => {
                column.auto_increment = true;
                column.nullable = false;
            }
            A::SerialDefaultValue => {
                column.auto_increment = true;
                column.nullable = false;
                draft.unique = true;
            }
            A::PrimaryKey => draft.primary = true,
            A::Unique => draft.unique = true,
            A::Comment(text) => column.comment = self.column_comment(&column.name, text)?,
            A::Visible => column.invisible = false,
            A::Invisible => column.invisible = true,
            A::Generated { expression, stored } => {
                let text = stored_text(self, expression, Purpose::Generated(&column.name))?;
                column.generated =
                    Some(GeneratedColumn { text, stored: *stored, is_key_part: false, element_type: None });
            }
            A::SpatialReference(_) => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "SRID")),
            // Of the table: `check`, `foreign_key`.
            A::Check(_) | A::References(_) => {}
            A::Collate(_)
            | A::ColumnFormat(_)
            | A::Storage(_)
            | A::EngineAttribute(_)
            | A::SecondaryEngineAttribute(_)
            | A::NotSecondary => {}
        }
        Ok(())
    }

    /// Error 1629.
    fn column_comment(&self, column: &str, text: &[u8]) -> SqlResult<String> {
        let comment = self.connection_collation().charset().to_string_lossy(text);
        let limit = limits::COLUMN_COMMENT_CHARACTERS_MAX;
        match comment.chars().count() > limit {
            true => Err(sql_error!(ER_TOO_LONG_FIELD_COMMENT, column, limit)),
            false => Ok(comment),
        }
    }

    /// DEFAULT of a column as it is stored: converted to the column's type. Errors: 1067, 1101.
    pub(super) fn default_value_of(
        &mut self,
        column: &ColumnDefinition,
        expression: &Expression,
    ) -> SqlResult<ColumnDefault> {
        let invalid = || sql_error!(ER_INVALID_DEFAULT, column.name);
        let kind = column.column_type.kind;
        if let Some(digits) = current_timestamp(expression) {
            let fits = matches!(kind, TypeKind::DateTime | TypeKind::Timestamp)
                && column.column_type.fractional_digits() == digits;
            return if fits { Ok(ColumnDefault::CurrentTimestamp(digits)) } else { Err(invalid()) };
        }
        if matches!(expression, Expression::Literal(Literal::Null)) {
            return Ok(ColumnDefault::Literal(Value::Null));
        }
        if kind.may_be_long() {
            return Err(sql_error!(ER_BLOB_CANT_HAVE_DEFAULT, column.name));
        }
        let typed = self.defaults.value_of(expression, self.diagnostics)?;
        let zone = self.settings.facts.time_zone.clone();
        let mode = StoreMode { strict: true, time_zone: zone.for_storing(), ..self.store_mode() };
        let mut context = StoreContext {
            mode,
            table: "",
            column: &column.name,
            row: 1,
            source: Source::Expression,
            diagnostics: self.diagnostics,
            documents: Documents::ANY,
        };
        let stored = store(&typed.value, &typed.column_type, &column.column_type, &mut context);
        match stored {
            Ok(Value::DateTime(moment)) if kind == TypeKind::Timestamp => {
                Ok(ColumnDefault::Literal(Value::DateTime(zone.stored(moment))))
            }
            Ok(value) => Ok(ColumnDefault::Literal(value)),
            Err(error) => {
                self.diagnostics.push(errors::Level::Error, error);
                Err(invalid())
            }
        }
    }

    /// How values are stored to columns in this session.
    pub(super) fn store_mode(&self) -> StoreMode {
        let mode = self.sql_mode();
        let now = self.settings.facts.time_zone.local(self.facts.started.microseconds());
        StoreMode {
            strict: mode.is_strict(),
            dates: DateRules {
                no_zero_date: mode.contains(SqlMode::NO_ZERO_DATE),
                no_zero_in_date: mode.contains(SqlMode::NO_ZERO_IN_DATE),
                allow_invalid_dates: mode.contains(SqlMode::ALLOW_INVALID_DATES),
            },
            truncate_fraction: mode.contains(SqlMode::TIME_TRUNCATE_FRACTIONAL),
            time_zone: values::temporal::TimeZone::System,
            today: now.date,
        }
    }
}

/// What the definition of a generated column may not have.
fn refused_of_generated(attribute: &ColumnAttribute) -> Option<&'static str> {
    use ColumnAttribute as A;
    match attribute {
        A::Default(_) | A::DefaultExpression(_) | A::SerialDefaultValue => Some("DEFAULT"),
        A::OnUpdateNow(_) => Some("ON UPDATE"),
        A::AutoIncrement => Some("AUTO_INCREMENT"),
        _ => None,
    }
}

/// Error 1166 for what no column may be called, though a query's column may.
pub fn check_selected_name(name: &str) -> SqlResult<()> {
    let is_wrong =
        name.is_empty() || name.ends_with(' ') || name.chars().count() > limits::NAME_CHARACTERS_MAX;
    if is_wrong { Err(sql_error!(ER_WRONG_COLUMN_NAME, name)) } else { Ok(()) }
}

fn check_column_name(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') {
        return Err(sql_error!(ER_WRONG_COLUMN_NAME, name));
    }
    if name.chars().count() > limits::NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

/// What the attributes say together.
pub(super) fn check_column(draft: &ColumnDraft) -> SqlResult<()> {
    let column = &draft.definition;
    let null_default = column.default == ColumnDefault::Literal(Value::Null);
    if null_default && (!column.nullable || draft.primary) {
        return Err(sql_error!(ER_INVALID_DEFAULT, column.name));
    }
    if column.auto_increment {
        let kind = column.column_type.kind;
        if !kind.is_integer() {
            return Err(sql_error!(ER_WRONG_FIELD_SPEC, column.name));
        }
        if column.default != ColumnDefault::None {
            return Err(sql_error!(ER_INVALID_DEFAULT, column.name));
        }
    }
    Ok(())
}

/// The fractional digits if the expression is CURRENT_TIMESTAMP or a synonym.
fn current_timestamp(expression: &Expression) -> Option<u8> {
    let Expression::Function(call) = expression else { return None };
    let names = ["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"];
    if call.schema.is_some() || !names.iter().any(|name| name.eq_ignore_ascii_case(&call.name)) {
        return None;
    }
    match call.arguments.as_slice() {
        [] => Some(0),
        [Expression::Literal(Literal::Integer(digits @ 0..=6))] => Some(*digits as u8),
        _ => None,
    }
}

/// Bytes of the column that count against the row limit.
pub(super) fn declared_row_bytes(column_type: &ColumnType) -> u64 {
    u64::from(column_type.row_bytes())
}
