//! EXPLAIN and DESCRIBE.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// At EXPLAIN, DESCRIBE or DESC.
    pub(super) fn explain(&mut self) -> SqlResult<Statement> {
        self.advance();
        if self.kind().is_name() && !self.at_explain_option() {
            return self.describe_table();
        }
        let mut explain = Explain {
            analyze: false,
            format: None,
            into: None,
            schema: None,
            target: ExplainTarget::Connection(0),
        };
        explain.analyze = self.accept(K::Analyze);
        if self.accept(K::Format) {
            self.expect_kind(T::Equal)?;
            explain.format = Some(self.name_or_string()?);
        }
        if self.accept(K::Into) {
            explain.into = Some(self.user_variable()?);
        }
        if self.accept(K::For) {
            if self.accept(K::Connection) {
                explain.target = ExplainTarget::Connection(self.number()?);
                return Ok(Statement::Explain(Box::new(explain)));
            }
            self.expect_any(&[K::Schema, K::Database])?;
            explain.schema = Some(self.name()?);
        }
        let words = matches!(
            self.kind(),
            T::OpenParenthesis
                | T::Word(
                    K::Select
                        | K::With
                        | K::Table
                        | K::Values
                        | K::Insert
                        | K::Replace
                        | K::Update
                        | K::Delete
                )
        );
        if !words {
            return self.fail();
        }
        explain.target = ExplainTarget::Statement(Box::new(self.statement()?));
        Ok(Statement::Explain(Box::new(explain)))
    }

    fn at_explain_option(&self) -> bool {
        self.at_word(K::Format) && self.kind_at(1) == T::Equal
    }

    fn describe_table(&mut self) -> SqlResult<Statement> {
        let table = self.object_name()?;
        let column = match self.kind() {
            T::String => Some(self.string()?),
            kind if kind.is_name() => Some(self.name()?.into_bytes()),
            _ => None,
        };
        Ok(Statement::Describe { table, column })
    }
}
