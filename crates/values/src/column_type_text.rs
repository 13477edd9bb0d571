//! SQL text of types as information_schema.COLUMNS.COLUMN_TYPE and SHOW CREATE TABLE print it
//! (character set and collation are printed beside it by the caller).

use crate::column_type::{ColumnType, TypeKind};
use crate::print::literal;
use std::fmt::Write;

impl TypeKind {
    /// The type's name as information_schema.COLUMNS.DATA_TYPE prints it.
    pub fn name(self) -> &'static str {
        use TypeKind::*;
        match self {
            Null => "null",
            TinyInt => "tinyint",
            SmallInt => "smallint",
            MediumInt => "mediumint",
            Int => "int",
            BigInt => "bigint",
            Decimal => "decimal",
            Float => "float",
            Double => "double",
            Bit => "bit",
            Year => "year",
            Date => "date",
            Time => "time",
            DateTime => "datetime",
            Timestamp => "timestamp",
            Char => "char",
            VarChar => "varchar",
            Binary => "binary",
            VarBinary => "varbinary",
            TinyText => "tinytext",
            Text => "text",
            MediumText => "mediumtext",
            LongText => "longtext",
            TinyBlob => "tinyblob",
            Blob => "blob",
            MediumBlob => "mediumblob",
            LongBlob => "longblob",
            Enum => "enum",
            Set => "set",
            Json => "json",
        }
    }
}

impl ColumnType {
    /// The type as SHOW CREATE TABLE prints it, e.g. `int unsigned`, `decimal(10,2)`, `enum('a','b')`.
    pub fn sql_text(&self) -> String {
        let mut text = self.kind.name().to_owned();
        // Writing to a String cannot fail.
        let _ = self.write_attributes(&mut text);
        text
    }

    fn write_attributes(&self, text: &mut String) -> std::fmt::Result {
        use TypeKind::*;
        match self.kind {
            TinyInt | SmallInt | MediumInt | Int | BigInt => {
                // Display widths are gone but for TINYINT(1), which tools read as BOOLEAN, and ZEROFILL.
                let is_boolean = self.kind == TinyInt && self.length == Some(1) && !self.unsigned;
                if self.zerofill {
                    write!(text, "({})", self.display_characters())?;
                } else if is_boolean {
                    text.push_str("(1)");
                }
            }
            Decimal => write!(text, "({},{})", self.precision(), self.scale())?,
            Float | Double => {
                if let (Some(length), Some(decimals)) = (self.length, self.decimals) {
                    write!(text, "({length},{decimals})")?;
                }
            }
            Bit => write!(text, "({})", self.bits())?,
            Time | DateTime | Timestamp if self.fractional_digits() > 0 => {
                write!(text, "({})", self.fractional_digits())?;
            }
            Char | VarChar | Binary | VarBinary => write!(text, "({})", self.characters())?,
            Enum | Set => self.write_members(text),
            _ => {}
        }
        if self.kind.is_number() && !matches!(self.kind, Bit | Year) {
            if self.unsigned {
                text.push_str(" unsigned");
            }
            if self.zerofill {
                text.push_str(" zerofill");
            }
        }
        Ok(())
    }

    fn write_members(&self, text: &mut String) {
        let charset = self.collation.charset();
        for (position, member) in self.members.iter().enumerate() {
            text.push(if position == 0 { '(' } else { ',' });
            text.push_str(&literal(&charset.to_string_lossy(member)));
        }
        text.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charset::CollationId;

    #[test]
    fn types_print_as_show_create_table_prints_them() {
        let latin1 = CollationId::LATIN1_SWEDISH_CI;
        let zerofill = ColumnType { unsigned: true, zerofill: true, ..ColumnType::new(TypeKind::Int) };
        let boolean = ColumnType { length: Some(1), ..ColumnType::new(TypeKind::TinyInt) };
        let float = ColumnType { length: Some(7), decimals: Some(3), ..ColumnType::new(TypeKind::Float) };
        for (column_type, expected) in [
            (ColumnType::integer(TypeKind::Int, true), "int unsigned"),
            (ColumnType { length: Some(11), ..ColumnType::new(TypeKind::Int) }, "int"),
            (zerofill, "int(10) unsigned zerofill"),
            (boolean, "tinyint(1)"),
            (ColumnType::decimal(10, 2), "decimal(10,2)"),
            (float, "float(7,3)"),
            (ColumnType::temporal(TypeKind::DateTime, 6), "datetime(6)"),
            (ColumnType::temporal(TypeKind::Time, 0), "time"),
            (ColumnType::varchar(255, latin1), "varchar(255)"),
            (ColumnType::new(TypeKind::Year), "year"),
            (ColumnType::bit(8), "bit(8)"),
            (
                ColumnType::enumeration(vec![b"a".to_vec(), b"it's\xe9".to_vec()], latin1),
                "enum('a','it''s\u{e9}')",
            ),
        ] {
            assert_eq!(column_type.sql_text(), expected);
        }
    }
}
