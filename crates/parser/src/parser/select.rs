//! SELECT: options, items, grouping, windows.

use super::*;
use Keyword as K;
use TokenKind as T;

/// Bytes of a column name that is taken from the statement's text.
const ITEM_NAME_BYTES_MAX: usize = 255;

impl Parser<'_> {
    pub(super) fn select(&mut self) -> SqlResult<Select> {
        self.expect(K::Select)?;
        let (hints, execution_time_max) = self.optional_hints();
        let mut select = Select { hints, execution_time_max, ..Select::default() };
        self.select_options(&mut select.options)?;
        select.items = self.select_items()?;
        self.optional_into()?;
        if self.accept(K::From) {
            select.dual = self.accept(K::Dual);
            if !select.dual {
                select.from = self.list(Self::table_reference)?;
            }
        }
        select.filter = self.optional_where()?;
        if self.accept(K::Group) {
            self.expect(K::By)?;
            self.grouping(&mut select)?;
        }
        select.having = if self.accept(K::Having) { Some(self.expression()?) } else { None };
        if self.accept(K::Window) {
            select.windows = self.list(|parser| {
                let name = parser.name()?;
                parser.expect(K::As)?;
                Ok(NamedWindow { name, specification: parser.parenthesised(Self::window_specification)? })
            })?;
        }
        select.qualify = if self.accept(K::Qualify) { Some(self.expression()?) } else { None };
        Ok(select)
    }

    #[inline(never)]
    fn grouping(&mut self, select: &mut Select) -> SqlResult<()> {
        if self.at_word(K::Rollup) && self.kind_at(1) == T::OpenParenthesis {
            self.advance();
            select.group_by = self.parenthesised(Self::expression_list)?;
            select.rollup = true;
            return Ok(());
        }
        select.group_by = self.expression_list()?;
        select.rollup = self.accept_all(&[K::With, K::Rollup]);
        Ok(())
    }

    /// The hints behind the word that was read: those for this block, and MAX_EXECUTION_TIME.
    pub(super) fn optional_hints(&mut self) -> (Vec<Hint>, Option<u64>) {
        if self.kind() != T::Hint {
            return (Vec::new(), None);
        }
        let (start, end) = (self.token().start as usize, self.token().end as usize);
        self.advance();
        let comment = crate::hint::read(self.source, start, end, self.options.ansi_quotes);
        self.hints.get_or_insert_default().note(comment, self.source, self.options)
    }

    #[inline(never)]
    pub(super) fn optional_where(&mut self) -> SqlResult<Option<Expression>> {
        if self.accept(K::Where) { self.expression().map(Some) } else { Ok(None) }
    }

    fn select_options(&mut self, options: &mut SelectOptions) -> SqlResult<()> {
        loop {
            let T::Word(word) = self.kind() else { return Ok(()) };
            match word {
                K::All => options.all = true,
                K::Distinct | K::Distinctrow => options.distinct = true,
                K::HighPriority => options.high_priority = true,
                K::StraightJoin => options.straight_join = true,
                K::SqlSmallResult => options.small_result = true,
                K::SqlBigResult => options.big_result = true,
                K::SqlBufferResult => options.buffer_result = true,
                K::SqlNoCache => options.no_cache = true,
                K::SqlCalcFoundRows => {
                    self.deprecate(Deprecation::CalcFoundRows);
                    options.calc_found_rows = true;
                }
                _ => return Ok(()),
            }
            if options.all && options.distinct {
                return Err(sql_error!(ER_WRONG_USAGE, "ALL", "DISTINCT"));
            }
            self.advance();
        }
    }

    #[inline(never)]
    fn select_items(&mut self) -> SqlResult<Vec<SelectItem>> {
        let mut items = Vec::new();
        if self.accept_kind(T::Star) {
            items.push(SelectItem::Wildcard);
            if !self.accept_comma() {
                return Ok(items);
            }
        }
        loop {
            items.push(self.select_item()?);
            if !self.accept_comma() {
                return Ok(items);
            }
        }
    }

    #[inline(never)]
    fn select_item(&mut self) -> SqlResult<SelectItem> {
        if let Some(table) = self.optional_table_wildcard()? {
            return Ok(SelectItem::TableWildcard(table));
        }
        let first = self.at;
        let expression = self.expression()?;
        let text = self.item_name(first, &expression);
        let alias = self.optional_alias()?;
        Ok(SelectItem::Expression { expression, alias, text })
    }

    /// The name that MySQL gives a column without alias, up to the length that it keeps.
    fn item_name(&self, first: usize, expression: &Expression) -> String {
        let mut name = self.whole_item_name(first, expression);
        name.truncate(name.floor_char_boundary(ITEM_NAME_BYTES_MAX));
        name
    }

    /// Parentheses and plus signs round a column or literal do not count, of joined strings the first does, up to a zero
    /// byte, and everything else is the source.
    fn whole_item_name(&self, first: usize, expression: &Expression) -> String {
        let mut inner = expression;
        while let Expression::Unary { operator: UnaryOperator::Plus, operand } = inner {
            inner = operand;
        }
        let Expression::Literal(literal) = inner else {
            let Expression::Column(column) = expression else { return self.string_since(first) };
            return column.column.clone();
        };
        let is_skipped = |kind: TokenKind| match literal {
            Literal::String { .. } => !matches!(kind, T::String | T::NationalString),
            _ => matches!(kind, T::OpenParenthesis | T::Plus),
        };
        let place = first + self.tokens[first..].iter().take_while(|token| is_skipped(token.kind)).count();
        let text = self.text_of(self.tokens[place]);
        match literal {
            Literal::String { .. } => {
                let quoted = text.strip_prefix(b"N").or(text.strip_prefix(b"n")).unwrap_or(text);
                let value = values::string_value(quoted, self.options);
                let shown = self.options.shown(&value);
                shown.split('\0').next().unwrap_or_default().trim_start().to_owned()
            }
            Literal::Null | Literal::Integer(_) | Literal::Decimal(_) | Literal::Float(_) => {
                self.options.shown(text)
            }
            _ => self.string_since(first),
        }
    }

    /// `table.*` or `schema.table.*`.
    fn optional_table_wildcard(&mut self) -> SqlResult<Option<ObjectName>> {
        if self.kind_at(1) != T::Point || !self.kind().is_name() {
            return Ok(None);
        }
        let qualified = self.kind_at(3) == T::Point && self.kind_at(4) == T::Star;
        if !qualified && self.kind_at(2) != T::Star {
            return Ok(None);
        }
        let first = self.name()?;
        self.advance();
        let name = if qualified {
            let name = self.name_behind_point()?;
            self.advance();
            ObjectName { schema: Some(first), name }
        } else {
            ObjectName { schema: None, name: first }
        };
        self.expect_kind(T::Star)?;
        Ok(Some(name))
    }

    /// `AS name`, `AS 'name'` or the same without AS.
    pub(super) fn optional_alias(&mut self) -> SqlResult<Option<Name>> {
        let explicit = self.accept(K::As);
        if explicit || self.kind().is_name() || self.kind() == T::String {
            return self.name_or_string().map(Some);
        }
        Ok(None)
    }
}
