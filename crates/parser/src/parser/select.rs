//! SELECT: options, items, grouping, windows.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    pub(super) fn select(&mut self) -> SqlResult<Select> {
        self.expect(K::Select)?;
        let mut select = Select { hints: self.optional_hint(), ..Select::default() };
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

    pub(super) fn optional_hint(&mut self) -> Option<String> {
        if self.kind() != T::Hint {
            return None;
        }
        let text = self.text_of(self.token());
        self.advance();
        let inside = text.get(3..text.len().saturating_sub(2)).unwrap_or_default();
        Some(String::from_utf8_lossy(inside).trim().to_owned())
    }

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
                K::SqlCalcFoundRows => options.calc_found_rows = true,
                _ => return Ok(()),
            }
            if options.all && options.distinct {
                return Err(sql_error!(ER_WRONG_USAGE, "ALL", "DISTINCT"));
            }
            self.advance();
        }
    }

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

    /// The name that MySQL gives a column without alias.
    fn item_name(&self, first: usize, expression: &Expression) -> String {
        match expression {
            Expression::Column(column) => column.column.clone(),
            Expression::Literal(Literal::String { introducer, .. }) => {
                let token = self.tokens
                    [first + usize::from(self.tokens[first].kind != T::String && introducer.is_some())];
                let token =
                    if self.tokens[first].kind == T::NationalString { self.tokens[first] } else { token };
                let text = self.text_of(token);
                let text = if token.kind == T::NationalString { &text[1..] } else { text };
                let value = values::string_value(text, self.options);
                String::from_utf8_lossy(&value).trim_start().to_owned()
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
