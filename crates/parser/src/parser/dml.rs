//! INSERT, REPLACE, UPDATE, DELETE, DO, CALL and HANDLER.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// INSERT and REPLACE.
    pub(super) fn insert(&mut self) -> SqlResult<Statement> {
        let replace = self.at_word(K::Replace);
        self.advance();
        let (hints, _) = self.optional_hints();
        let priority = match self.accept_any(&[K::LowPriority, K::Delayed, K::HighPriority]) {
            None => InsertPriority::Normal,
            Some(K::LowPriority) => InsertPriority::Low,
            Some(K::HighPriority) if !replace => InsertPriority::High,
            Some(K::Delayed) => InsertPriority::Delayed,
            Some(_) => return self.fail(),
        };
        let ignore = !replace && self.accept(K::Ignore);
        self.accept(K::Into);
        let table = self.object_name()?;
        let partitions = self.optional_partitions()?;
        let (columns, source) = self.insert_source()?;
        let row_alias = if matches!(source, InsertSource::Values(_)) { self.row_alias()? } else { None };
        let on_duplicate = if !replace && self.accept_all(&[K::On, K::Duplicate, K::Key]) {
            self.expect(K::Update)?;
            self.list(Self::assignment)?
        } else {
            Vec::new()
        };
        Ok(Statement::Insert(Box::new(Insert {
            replace,
            priority,
            ignore,
            hints,
            table,
            partitions,
            columns,
            source,
            row_alias,
            on_duplicate,
        })))
    }

    fn insert_source(&mut self) -> SqlResult<(Vec<ColumnReference>, InsertSource)> {
        if self.accept(K::Set) {
            let (columns, values) = self
                .list(Self::assignment)?
                .into_iter()
                .map(|assignment| (assignment.column, assignment.value))
                .unzip();
            return Ok((columns, InsertSource::Values(vec![values])));
        }
        let mut columns = Vec::new();
        if self.kind() == T::OpenParenthesis && !self.opens_query() {
            self.advance();
            if self.kind() != T::CloseParenthesis {
                columns = self.list(Self::column_reference)?;
            }
            self.expect_kind(T::CloseParenthesis)?;
        }
        let is_table_value = self.at_words(K::Values, K::Row);
        if !is_table_value && self.accept_any(&[K::Values, K::Value]).is_some() {
            return Ok((columns, InsertSource::Values(self.list(Self::row_of_values)?)));
        }
        if self.at_query_word() || self.kind() == T::OpenParenthesis {
            return Ok((columns, InsertSource::Query(Box::new(self.query()?))));
        }
        self.fail()
    }

    /// `(value, value)`, where a value may be DEFAULT; may be empty.
    pub(super) fn row_of_values(&mut self) -> SqlResult<Vec<Expression>> {
        self.expect_kind(T::OpenParenthesis)?;
        if self.accept_kind(T::CloseParenthesis) {
            return Ok(Vec::new());
        }
        let values = self.list(Self::value_or_default)?;
        self.expect_kind(T::CloseParenthesis)?;
        Ok(values)
    }

    fn value_or_default(&mut self) -> SqlResult<Expression> {
        if self.at_word(K::Default) && self.kind_at(1) != T::OpenParenthesis {
            self.advance();
            return Ok(Expression::Default(None));
        }
        self.expression()
    }

    fn row_alias(&mut self) -> SqlResult<Option<RowAlias>> {
        if !self.accept(K::As) {
            return Ok(None);
        }
        Ok(Some(RowAlias { name: self.name()?, columns: self.optional_names()? }))
    }

    /// `column = value`.
    pub(super) fn assignment(&mut self) -> SqlResult<Assignment> {
        let column = self.column_reference()?;
        if !self.accept_kind(T::Assign) {
            self.expect_kind(T::Equal)?;
        }
        Ok(Assignment { column, value: self.value_or_default()? })
    }

    pub(super) fn update(&mut self, with: Option<With>) -> SqlResult<Statement> {
        self.expect(K::Update)?;
        let (hints, _) = self.optional_hints();
        let low_priority = self.accept(K::LowPriority);
        let ignore = self.accept(K::Ignore);
        let tables = self.list(Self::table_reference)?;
        self.expect(K::Set)?;
        let assignments = self.list(Self::assignment)?;
        let filter = self.optional_where()?;
        let order_by = self.optional_order_by()?;
        let limit = self.optional_row_limit()?;
        let update =
            Update { with, low_priority, ignore, hints, tables, assignments, filter, order_by, limit };
        Ok(Statement::Update(Box::new(update)))
    }

    /// `LIMIT count`.
    fn optional_row_limit(&mut self) -> SqlResult<Option<Expression>> {
        if self.accept(K::Limit) { self.limit_value().map(Some) } else { Ok(None) }
    }

    pub(super) fn delete(&mut self, with: Option<With>) -> SqlResult<Statement> {
        self.expect(K::Delete)?;
        let (hints, _) = self.optional_hints();
        let (mut low_priority, mut quick, mut ignore) = (false, false, false);
        while let Some(word) = self.accept_any(&[K::LowPriority, K::Quick, K::Ignore]) {
            match word {
                K::LowPriority => low_priority = true,
                K::Quick => quick = true,
                _ => ignore = true,
            }
        }
        let source = self.delete_source()?;
        let filter = self.optional_where()?;
        let single = matches!(source, DeleteSource::Single(_));
        let order_by = if single { self.optional_order_by()? } else { Vec::new() };
        let limit = if single { self.optional_row_limit()? } else { None };
        let delete = Delete { with, low_priority, quick, ignore, hints, source, filter, order_by, limit };
        Ok(Statement::Delete(Box::new(delete)))
    }

    fn delete_source(&mut self) -> SqlResult<DeleteSource> {
        if !self.accept(K::From) {
            let targets = self.list(Self::delete_target)?;
            self.expect(K::From)?;
            return Ok(DeleteSource::Multiple { targets, from: self.list(Self::table_reference)? });
        }
        let start = self.at;
        let targets = self.list(Self::delete_target)?;
        if self.accept(K::Using) {
            return Ok(DeleteSource::Multiple { targets, from: self.list(Self::table_reference)? });
        }
        self.at = start;
        let name = self.object_name()?;
        let early_alias = self.table_alias()?;
        let partitions = self.optional_partitions()?;
        let alias = if early_alias.is_some() { early_alias } else { self.table_alias()? };
        Ok(DeleteSource::Single(TableFactor { name, partitions, alias, index_hints: Vec::new() }))
    }

    /// `table`, `table.*` or `schema.table.*`.
    fn delete_target(&mut self) -> SqlResult<ObjectName> {
        let first = self.name()?;
        let mut target = ObjectName { schema: None, name: first };
        if self.kind() == T::Point && self.kind_at(1) != T::Star {
            self.advance();
            let name = self.name_behind_point()?;
            target = ObjectName { schema: Some(target.name), name };
        }
        if self.accept_kind(T::Point) {
            self.expect_kind(T::Star)?;
        }
        Ok(target)
    }

    pub(super) fn do_statement(&mut self) -> SqlResult<Statement> {
        self.advance();
        let expressions = self.list(|parser| {
            let expression = parser.expression()?;
            parser.optional_alias()?;
            Ok(expression)
        })?;
        Ok(Statement::Do(expressions))
    }

    pub(super) fn call_statement(&mut self) -> SqlResult<Statement> {
        self.advance();
        let procedure = self.object_name()?;
        let arguments = if self.kind() == T::OpenParenthesis { self.call_arguments()? } else { Vec::new() };
        Ok(Statement::Call { procedure, arguments })
    }

    pub(super) fn handler(&mut self) -> SqlResult<Statement> {
        self.advance();
        let table = self.object_name()?;
        let handler = match self.expect_any(&[K::Open, K::Close, K::Read])? {
            K::Open => Handler::Open { table, alias: self.table_alias()? },
            _ if table.schema.is_some() => return self.fail(),
            K::Close => Handler::Close(table.name),
            _ => self.handler_read(table.name)?,
        };
        Ok(Statement::Handler(Box::new(handler)))
    }

    fn handler_read(&mut self, table: Name) -> SqlResult<Handler> {
        let at_step = matches!(self.kind(), T::Word(K::First | K::Next))
            && matches!(self.kind_at(1), T::End | T::Semicolon | T::Word(K::Where | K::Limit));
        let index = if at_step { None } else { Some(self.index_name()?) };
        let operator = match self.kind() {
            T::Equal => Some(BinaryOperator::Equal),
            T::Less => Some(BinaryOperator::Less),
            T::LessOrEqual => Some(BinaryOperator::LessOrEqual),
            T::Greater => Some(BinaryOperator::Greater),
            T::GreaterOrEqual => Some(BinaryOperator::GreaterOrEqual),
            _ => None,
        };
        let step = if let Some(operator) = operator {
            self.advance();
            HandlerStep::Key { operator, values: self.row_of_values()? }
        } else {
            match self.expect_any(&[K::First, K::Next, K::Prev, K::Last])? {
                K::First => HandlerStep::First,
                K::Next => HandlerStep::Next,
                K::Prev => HandlerStep::Previous,
                _ => HandlerStep::Last,
            }
        };
        let filter = self.optional_where()?;
        Ok(Handler::Read { table, index, step, filter, limit: self.optional_limit()? })
    }
}
