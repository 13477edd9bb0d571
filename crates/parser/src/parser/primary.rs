//! Operands: what stands between operators. Calls are in `call`, casts in `cast`, windows in `window`.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// An operand with its unary operators and COLLATE clauses. Leaves its levels in `depth`.
    pub(super) fn operand(&mut self) -> SqlResult<Expression> {
        let operator = match self.kind() {
            T::Minus => UnaryOperator::Minus,
            T::Plus => UnaryOperator::Plus,
            T::Tilde => UnaryOperator::BitNot,
            T::Exclamation => UnaryOperator::Not,
            T::Word(K::Not) if self.options.high_not_precedence => UnaryOperator::Not,
            T::Word(K::Binary) => UnaryOperator::Binary,
            _ => {
                self.depth = 0;
                let primary = self.primary()?;
                return self.collated(primary);
            }
        };
        match self.kind() {
            T::Exclamation => self.deprecate(Deprecation::Replaced("!", "NOT")),
            T::Word(K::Binary) => self.deprecate(Deprecation::Replaced("BINARY expr", "CAST")),
            _ => {}
        }
        self.advance();
        let operand = Box::new(self.nested(Self::operand)?);
        self.set_depth(self.depth + 1)?;
        Ok(Expression::Unary { operator, operand })
    }

    #[inline(never)]
    fn collated(&mut self, mut operand: Expression) -> SqlResult<Expression> {
        while self.accept(K::Collate) {
            let collation = self.charset_name()?;
            operand = Expression::Collate { operand: Box::new(operand), collation };
            self.set_depth(self.depth + 1)?;
        }
        Ok(operand)
    }

    fn primary(&mut self) -> SqlResult<Expression> {
        if self.at_lifted_literal() {
            return Ok(self.next_parameter());
        }
        if let Some(literal) = self.literal()? {
            return Ok(Expression::Literal(literal));
        }
        match self.kind() {
            T::OpenParenthesis => self.parenthesised_operand(),
            T::Parameter => Ok(self.next_parameter()),
            T::UserVariable => self.variable_operand(),
            T::DoubleAt => Ok(Expression::SystemVariable(self.system_variable()?)),
            T::OpenBrace => self.odbc_operand(),
            T::Name | T::QuotedName => self.named_operand(),
            T::Word(word) => self.word_operand(word),
            _ => self.fail(),
        }
    }

    fn next_parameter(&mut self) -> Expression {
        self.advance();
        self.parameters += 1;
        Expression::Parameter(self.parameters - 1)
    }

    /// Whether the token is a literal that is to be read as a parameter.
    fn at_lifted_literal(&self) -> bool {
        let next = self.lifted.get(self.parameters as usize);
        next.is_some_and(|literal| literal.start == self.token().start)
    }

    #[inline(never)]
    fn word_operand(&mut self, word: Keyword) -> SqlResult<Expression> {
        match word {
            K::Exists => {
                self.advance();
                Ok(Expression::Exists(Box::new(self.parenthesised(Self::query)?)))
            }
            K::Row => {
                self.advance();
                let items = self.parenthesised_list(Self::expression)?;
                if items.len() < 2 { self.fail() } else { Ok(Expression::Row(items)) }
            }
            K::Case => self.case_operand(),
            K::Convert => self.cast_operand(),
            K::Match => self.match_operand(),
            K::Default if self.kind_at(1) == T::OpenParenthesis => {
                self.advance();
                Ok(Expression::Default(Some(self.parenthesised(Self::column_reference)?)))
            }
            K::Values if self.kind_at(1) == T::OpenParenthesis => {
                self.advance();
                self.deprecate(Deprecation::ValuesFunction);
                Ok(Expression::Values(self.parenthesised(Self::column_reference)?))
            }
            K::Interval => self.interval_operand(),
            _ if word.is_reserved() => self.reserved_call(word),
            _ => self.named_operand(),
        }
    }

    /// `(a)`, `(a, b)` or `(SELECT ..)`.
    #[inline(never)]
    fn parenthesised_operand(&mut self) -> SqlResult<Expression> {
        if self.opens_query() {
            return Ok(Expression::Subquery(Box::new(self.parenthesised(Self::query)?)));
        }
        let mut items = self.parenthesised_list(Self::expression)?;
        match items.pop() {
            Some(only) if items.is_empty() => Ok(only),
            Some(last) => {
                items.push(last);
                Ok(Expression::Row(items))
            }
            None => self.fail(),
        }
    }

    /// At an opening parenthesis: whether a query stands in it, however many parentheses follow.
    /// Looks ahead without parsing: parsing twice would take exponential time for nested queries.
    pub(super) fn opens_query(&mut self) -> bool {
        let mut open = self.at;
        loop {
            match self.tokens[(open + 1).min(self.tokens.len() - 1)].kind {
                T::Word(K::Select | K::With | K::Table) => return true,
                T::Word(K::Values) => {
                    return self.tokens.get(open + 2).is_some_and(|token| token.kind == T::Word(K::Row));
                }
                T::OpenParenthesis => {}
                _ => return false,
            }
            let close = self.closing_parenthesis(open + 1);
            match self.tokens[(close + 1).min(self.tokens.len() - 1)].kind {
                T::Word(
                    K::Union | K::Except | K::Intersect | K::Order | K::Limit | K::For | K::Lock | K::Into,
                ) => return true,
                T::CloseParenthesis => open += 1,
                _ => return false,
            }
        }
    }

    /// The token that closes the parenthesis opened at token `open`; the last token if none does.
    pub(super) fn closing_parenthesis(&mut self, open: usize) -> usize {
        if self.closing.is_empty() {
            let mut closing = vec![self.tokens.len() as u32 - 1; self.tokens.len()];
            let mut opened = Vec::new();
            for (at, token) in self.tokens.iter().enumerate() {
                match token.kind {
                    T::OpenParenthesis => opened.push(at),
                    T::CloseParenthesis => {
                        if let Some(open) = opened.pop() {
                            closing[open] = at as u32;
                        }
                    }
                    _ => {}
                }
            }
            self.closing = closing;
        }
        self.closing[open] as usize
    }

    /// `@a` or `@a := value`.
    #[inline(never)]
    fn variable_operand(&mut self) -> SqlResult<Expression> {
        let name = self.user_variable()?;
        if !self.accept_kind(T::Assign) {
            return Ok(Expression::UserVariable(name));
        }
        self.deprecate(Deprecation::VariableAssignment);
        let value = Box::new(self.expression()?);
        Ok(Expression::AssignVariable { name, value })
    }

    /// `@@name`, `@@scope.name`, `@@component.name`.
    #[inline(never)]
    pub(super) fn system_variable(&mut self) -> SqlResult<SystemVariable> {
        self.expect_kind(T::DoubleAt)?;
        let scope = if self.kind_at(1) == T::Point { self.accept_variable_scope() } else { None };
        if scope.is_some() {
            self.expect_kind(T::Point)?;
        }
        let first = self.variable_name()?;
        if !self.accept_kind(T::Point) {
            return Ok(SystemVariable { scope, qualifier: None, name: first });
        }
        let name = self.name_behind_point()?;
        Ok(SystemVariable { scope, qualifier: Some(first), name })
    }

    /// `default` is a name here (`@@default.key_buffer_size`).
    pub(super) fn variable_name(&mut self) -> SqlResult<Name> {
        if self.at_word(K::Default) && self.kind_at(1) == T::Point {
            self.any_word()
        } else {
            self.name_behind_point()
        }
    }

    pub(super) fn accept_variable_scope(&mut self) -> Option<VariableScope> {
        Some(match self.accept_any(&[K::Global, K::Session, K::Local, K::Persist, K::PersistOnly])? {
            K::Global => VariableScope::Global,
            K::Persist => VariableScope::Persist,
            K::PersistOnly => VariableScope::PersistOnly,
            _ => VariableScope::Session,
        })
    }

    /// `{d '2020-01-01'}`, `{fn now()}`.
    #[inline(never)]
    fn odbc_operand(&mut self) -> SqlResult<Expression> {
        self.advance();
        let name = self.name()?;
        let operand = self.expression()?;
        self.expect_kind(T::CloseBrace)?;
        let Expression::Literal(Literal::String { bytes, introducer: None }) = &operand else {
            return Ok(Expression::Odbc { name, operand: Box::new(operand) });
        };
        let bytes = bytes.clone();
        Ok(match name.to_ascii_lowercase().as_str() {
            "d" => Expression::Literal(Literal::Date(bytes)),
            "t" => Expression::Literal(Literal::Time(bytes)),
            "ts" => Expression::Literal(Literal::Timestamp(bytes)),
            _ => Expression::Odbc { name, operand: Box::new(operand) },
        })
    }

    #[inline(never)]
    fn case_operand(&mut self) -> SqlResult<Expression> {
        self.advance();
        let operand = if self.at_word(K::When) { None } else { Some(Box::new(self.expression()?)) };
        let mut branches = Vec::new();
        while self.accept(K::When) {
            let when = self.expression()?;
            self.expect(K::Then)?;
            branches.push(CaseBranch { when, then: self.expression()? });
        }
        if branches.is_empty() {
            return self.fail();
        }
        let otherwise = if self.accept(K::Else) { Some(Box::new(self.expression()?)) } else { None };
        self.expect(K::End)?;
        Ok(Expression::Case { operand, branches, otherwise })
    }

    #[inline(never)]
    fn match_operand(&mut self) -> SqlResult<Expression> {
        self.advance();
        let columns = if self.kind() == T::OpenParenthesis {
            self.parenthesised_list(Self::column_reference)?
        } else {
            self.list(Self::column_reference)?
        };
        self.expect(K::Against)?;
        self.expect_kind(T::OpenParenthesis)?;
        let against = Box::new(self.bit_expression()?);
        let mode = self.match_mode()?;
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::Match { columns, against, mode })
    }

    fn match_mode(&mut self) -> SqlResult<MatchMode> {
        if self.accept_all(&[K::In, K::Boolean, K::Mode]) {
            return Ok(MatchMode::Boolean);
        }
        if self.accept(K::In) {
            self.expect_all(&[K::Natural, K::Language, K::Mode])?;
        }
        if self.accept(K::With) {
            self.expect_all(&[K::Query, K::Expansion])?;
            return Ok(MatchMode::NaturalLanguageWithExpansion);
        }
        Ok(MatchMode::NaturalLanguage)
    }

    /// `INTERVAL amount unit + operand`, or the function INTERVAL(a, b, ..).
    #[inline(never)]
    fn interval_operand(&mut self) -> SqlResult<Expression> {
        let is_amount = self.at_interval();
        self.advance();
        if !is_amount {
            let arguments = self.parenthesised_list(Self::expression)?;
            return Ok(Expression::call("interval", arguments));
        }
        let amount = Box::new(self.expression()?);
        let unit = self.interval_unit()?;
        self.expect_kind(T::Plus)?;
        let operand = Box::new(self.bit_expression()?);
        Ok(Expression::DateArithmetic { operand, amount, unit, subtract: false })
    }

    /// A column, a JSON path of a column, or a call.
    #[inline(never)]
    fn named_operand(&mut self) -> SqlResult<Expression> {
        let is_call = self.kind_at(1) == T::OpenParenthesis;
        if is_call {
            return self.named_call();
        }
        let first = self.name()?;
        if self.kind() == T::Point && self.kind_at(2) == T::OpenParenthesis {
            self.advance();
            let name = self.name_behind_point()?;
            let arguments = self.call_arguments()?;
            return Ok(Expression::call_object(ObjectName { schema: Some(first), name }, arguments));
        }
        let column = Expression::Column(self.column_reference_from(first)?);
        match self.kind() {
            T::Arrow => self.json_path(column, false),
            T::LongArrow => self.json_path(column, true),
            _ => Ok(column),
        }
    }

    #[inline(never)]
    fn json_path(&mut self, column: Expression, unquote: bool) -> SqlResult<Expression> {
        self.advance();
        let path = Expression::Literal(Literal::String { bytes: self.string()?, introducer: None });
        let extract = Expression::call("json_extract", vec![column, path]);
        Ok(if unquote { Expression::call("json_unquote", vec![extract]) } else { extract })
    }
}
