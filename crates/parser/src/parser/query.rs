//! Query expressions: WITH, set operations, ORDER BY, LIMIT, locking clauses and INTO.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// A query expression, at the top of a statement or in parentheses.
    pub(super) fn query(&mut self) -> SqlResult<Query> {
        self.nested(|parser| {
            let with = parser.optional_with()?;
            parser.query_with(with)
        })
    }

    /// Whether a query starts here, not counting parentheses.
    pub(super) fn at_query_word(&self) -> bool {
        matches!(self.kind(), T::Word(K::Select | K::With | K::Table | K::Values))
    }

    /// The rest of a query whose WITH clause is read.
    pub(super) fn query_with(&mut self, with: Option<With>) -> SqlResult<Query> {
        let outer_into = self.into.take();
        let body = self.query_body()?;
        let order_by = self.optional_order_by()?;
        let limit = self.optional_limit()?;
        self.optional_into()?;
        let locking = self.locking_clauses()?;
        self.optional_into()?;
        let into = std::mem::replace(&mut self.into, outer_into);
        let bare =
            with.is_none() && order_by.is_empty() && limit.is_none() && locking.is_empty() && into.is_none();
        match body {
            QueryBody::Nested(query) if bare => Ok(*query),
            body => Ok(Query { with, body, order_by, limit, locking, into }),
        }
    }

    #[inline(never)]
    pub(super) fn optional_with(&mut self) -> SqlResult<Option<With>> {
        if !self.accept(K::With) {
            return Ok(None);
        }
        let recursive = self.accept(K::Recursive);
        let tables = self.list(|parser| {
            let name = parser.name()?;
            let columns = parser.optional_names()?;
            parser.expect(K::As)?;
            let query = Box::new(parser.parenthesised(Self::query)?);
            Ok(CommonTable { name, columns, query })
        })?;
        Ok(Some(With { recursive, tables }))
    }

    /// UNION and EXCEPT, which have one precedence.
    fn query_body(&mut self) -> SqlResult<QueryBody> {
        let first = self.intersection()?;
        let mut rest = Vec::new();
        while let Some(word) = self.accept_any(&[K::Union, K::Except]) {
            let operator = if word == K::Union { SetOperator::Union } else { SetOperator::Except };
            let all = self.set_quantifier();
            rest.push(SetTerm { operator, all, body: self.intersection()? });
        }
        Ok(chain(first, rest))
    }

    /// INTERSECT, which binds tighter.
    #[inline(never)]
    fn intersection(&mut self) -> SqlResult<QueryBody> {
        let first = self.query_primary()?;
        let mut rest = Vec::new();
        while self.accept(K::Intersect) {
            let all = self.set_quantifier();
            rest.push(SetTerm { operator: SetOperator::Intersect, all, body: self.query_primary()? });
        }
        Ok(chain(first, rest))
    }

    fn set_quantifier(&mut self) -> bool {
        self.accept_any(&[K::All, K::Distinct]) == Some(K::All)
    }

    #[inline(never)]
    fn query_primary(&mut self) -> SqlResult<QueryBody> {
        match self.kind() {
            T::Word(K::Select) => Ok(QueryBody::Select(Box::new(self.select()?))),
            T::Word(K::Table) => {
                self.advance();
                Ok(QueryBody::Table(self.object_name()?))
            }
            T::Word(K::Values) => {
                self.advance();
                Ok(QueryBody::Values(self.list(|parser| {
                    parser.expect(K::Row)?;
                    parser.row_of_values()
                })?))
            }
            T::OpenParenthesis => Ok(QueryBody::Nested(Box::new(self.parenthesised(Self::query)?))),
            _ => self.fail(),
        }
    }

    #[inline(never)]
    pub(super) fn optional_order_by(&mut self) -> SqlResult<Vec<OrderItem>> {
        if !self.accept(K::Order) {
            return Ok(Vec::new());
        }
        self.expect(K::By)?;
        self.list(Self::order_item)
    }

    pub(super) fn order_item(&mut self) -> SqlResult<OrderItem> {
        let expression = self.expression()?;
        Ok(OrderItem { expression, descending: self.accept_any(&[K::Asc, K::Desc]) == Some(K::Desc) })
    }

    /// `LIMIT count`, `LIMIT offset, count` or `LIMIT count OFFSET offset`.
    #[inline(never)]
    pub(super) fn optional_limit(&mut self) -> SqlResult<Option<Limit>> {
        if !self.accept(K::Limit) {
            return Ok(None);
        }
        let first = self.limit_value()?;
        if self.accept_comma() {
            return Ok(Some(Limit { count: self.limit_value()?, offset: Some(first) }));
        }
        let offset = if self.accept(K::Offset) { Some(self.limit_value()?) } else { None };
        Ok(Some(Limit { count: first, offset }))
    }

    /// A number, a parameter, or the name of a stored program's variable.
    pub(super) fn limit_value(&mut self) -> SqlResult<Expression> {
        match self.kind() {
            T::Integer | T::Hex => Ok(Expression::Literal(Literal::Integer(self.number()?))),
            T::Parameter => self.operand(),
            kind if kind.is_name() => Ok(Expression::Column(ColumnReference::unqualified(self.name()?))),
            _ => self.fail(),
        }
    }

    #[inline(never)]
    fn locking_clauses(&mut self) -> SqlResult<Vec<LockingClause>> {
        let mut clauses = Vec::new();
        loop {
            if self.accept(K::For) {
                let strength = match self.expect_any(&[K::Update, K::Share])? {
                    K::Update => LockStrength::Update,
                    _ => LockStrength::Share,
                };
                let tables = if self.accept(K::Of) { self.list(Self::object_name)? } else { Vec::new() };
                clauses.push(LockingClause { strength, tables, wait: self.lock_wait()? });
            } else if self.at_words(K::Lock, K::In) {
                self.at += 2;
                self.expect_all(&[K::Share, K::Mode])?;
                clauses.push(LockingClause {
                    strength: LockStrength::Share,
                    tables: Vec::new(),
                    wait: LockWait::Wait,
                });
            } else {
                return Ok(clauses);
            }
        }
    }

    fn lock_wait(&mut self) -> SqlResult<LockWait> {
        if self.accept(K::Nowait) {
            return Ok(LockWait::NoWait);
        }
        if self.accept(K::Skip) {
            self.expect(K::Locked)?;
            return Ok(LockWait::SkipLocked);
        }
        Ok(LockWait::Wait)
    }

    /// INTO, which may stand before FROM, before or behind the locking clauses. It is kept in `into`
    /// until the query that it belongs to ends.
    #[inline(never)]
    pub(super) fn optional_into(&mut self) -> SqlResult<()> {
        if !self.at_word(K::Into) {
            return Ok(());
        }
        if self.into.is_some() {
            return Err(errors::sql_error!(ER_MULTIPLE_INTO_CLAUSES));
        }
        self.advance();
        self.into = Some(Box::new(self.query_into()?));
        Ok(())
    }

    fn query_into(&mut self) -> SqlResult<QueryInto> {
        if self.accept(K::Outfile) {
            let path = self.string()?;
            let charset = self.optional_charset()?;
            return Ok(QueryInto::Outfile { path, charset, format: self.file_format()? });
        }
        if self.accept(K::Dumpfile) {
            return Ok(QueryInto::Dumpfile(self.string()?));
        }
        Ok(QueryInto::Variables(self.list(Self::target_variable)?))
    }

    pub(super) fn target_variable(&mut self) -> SqlResult<IntoVariable> {
        if self.kind() == T::UserVariable {
            return Ok(IntoVariable::User(self.user_variable()?));
        }
        Ok(IntoVariable::Local(self.name()?))
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

fn chain(first: QueryBody, rest: Vec<SetTerm>) -> QueryBody {
    if rest.is_empty() {
        first
    } else {
        QueryBody::SetOperation(SetOperation { first: Box::new(first), rest })
    }
}
