//! Names: quoted or not, qualified or not, of columns, tables, character sets and variables.

use super::*;
use Keyword as K;

impl Parser<'_> {
    /// A name: quoted, or a word that is not reserved.
    pub(super) fn name(&mut self) -> SqlResult<Name> {
        if !self.kind().is_name() {
            return self.fail();
        }
        self.any_word()
    }

    /// The part of a qualified name behind a point, where every word is a name.
    pub(super) fn name_behind_point(&mut self) -> SqlResult<Name> {
        match self.kind() {
            TokenKind::Word(_) | TokenKind::Name | TokenKind::QuotedName => self.any_word(),
            _ => self.fail(),
        }
    }

    /// The token's text as a name, whatever it is.
    #[inline(never)]
    pub(super) fn any_word(&mut self) -> SqlResult<Name> {
        let text = self.text_of(self.token());
        let name = utf8(self.options.name(values::name_bytes(text, self.options)))?;
        self.advance();
        Ok(name)
    }

    /// A name or a string, as for engines, character sets and accounts.
    #[inline(never)]
    pub(super) fn name_or_string(&mut self) -> SqlResult<Name> {
        if self.kind() == TokenKind::String { utf8(self.string()?) } else { self.name() }
    }

    /// A character set or collation: a name, a string or `binary`.
    pub(super) fn charset_name(&mut self) -> SqlResult<Name> {
        if self.at_word(Keyword::Binary) {
            return self.any_word();
        }
        self.name_or_string()
    }

    /// Notes the use of a character set in an expression.
    pub(super) fn deprecate_charset(&mut self, name: &str) {
        if name.eq_ignore_ascii_case("utf8") {
            self.deprecate(Deprecation::Utf8);
        } else if let Some(old) = charset::deprecated(name) {
            self.deprecate(Deprecation::Replaced(old, "utf8mb4"));
        }
    }

    /// `schema.object`, `object` or `.object`.
    pub(super) fn object_name(&mut self) -> SqlResult<ObjectName> {
        let first = self.name()?;
        if !self.accept_kind(TokenKind::Point) {
            return Ok(ObjectName { schema: None, name: first });
        }
        Ok(ObjectName { schema: Some(first), name: self.name_behind_point()? })
    }

    pub(super) fn column_reference(&mut self) -> SqlResult<ColumnReference> {
        let first = self.name()?;
        self.column_reference_from(first)
    }

    /// The rest of a column reference whose first name is read.
    #[inline(never)]
    pub(super) fn column_reference_from(&mut self, first: Name) -> SqlResult<ColumnReference> {
        if !self.accept_kind(TokenKind::Point) {
            return Ok(ColumnReference::unqualified(first));
        }
        let second = self.name_behind_point()?;
        if !self.accept_kind(TokenKind::Point) {
            return Ok(ColumnReference { schema: None, table: Some(first), column: second });
        }
        Ok(ColumnReference { schema: Some(first), table: Some(second), column: self.name_behind_point()? })
    }

    /// `@name`.
    pub(super) fn user_variable(&mut self) -> SqlResult<Name> {
        if self.kind() != TokenKind::UserVariable {
            return self.fail();
        }
        self.at_sign_name()
    }

    /// What follows the `@` of a user variable or account.
    pub(super) fn at_sign_name(&mut self) -> SqlResult<Name> {
        let text = &self.text_of(self.token())[1..];
        let bytes = match text.first() {
            Some(b'\'' | b'"') => values::string_value(text, self.options),
            _ => values::name_bytes(text, self.options),
        };
        self.advance();
        utf8(self.options.name(bytes))
    }

    /// `( name, name )` if a parenthesis opens here.
    pub(super) fn optional_names(&mut self) -> SqlResult<Vec<Name>> {
        if self.kind() == TokenKind::OpenParenthesis {
            self.parenthesised_list(Self::name)
        } else {
            Ok(Vec::new())
        }
    }

    /// `CHARACTER SET name` or `CHARSET name`.
    pub(super) fn optional_charset(&mut self) -> SqlResult<Option<Name>> {
        if !self.accept_charset_words()? {
            return Ok(None);
        }
        Ok(Some(self.charset_name()?))
    }

    /// CHARACTER SET, CHAR SET or CHARSET.
    pub(super) fn accept_charset_words(&mut self) -> SqlResult<bool> {
        Ok(self.accept(K::Charset)
            || self.accept_all(&[K::Character, K::Set])
            || self.accept_all(&[K::Char, K::Set]))
    }
}

/// Names are UTF-8, whatever the connection's character set.
fn utf8(bytes: Vec<u8>) -> SqlResult<String> {
    String::from_utf8(bytes).map_err(|error| {
        let bad = &error.as_bytes()[error.utf8_error().valid_up_to()..];
        let shown: String = bad.iter().take(6).map(|byte| format!("\\x{byte:02X}")).collect();
        sql_error!(ER_INVALID_CHARACTER_STRING, "utf8mb3", shown)
    })
}
