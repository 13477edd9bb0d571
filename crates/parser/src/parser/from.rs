//! Table references: tables, derived tables, JSON_TABLE and joins.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// A table with all that is joined to it.
    pub(super) fn table_reference(&mut self) -> SqlResult<TableReference> {
        self.nested(|parser| {
            let first = parser.table_factor_any()?;
            parser.joins(first)
        })
    }

    /// Joins to the right of `left`, as many as follow.
    #[inline(never)]
    fn joins(&mut self, mut left: TableReference) -> SqlResult<TableReference> {
        let mut count = 0;
        while let Some((kind, natural)) = self.join_words()? {
            count += 1;
            if count > NESTING_MAX {
                return Err(too_deep());
            }
            let mut right = self.table_factor_any()?;
            if natural {
                left = joined(kind, true, left, right, JoinCondition::None);
                continue;
            }
            let mut condition = self.join_condition()?;
            let waits = condition == JoinCondition::None;
            if waits && self.at_join() {
                // The right side has joins of its own: their conditions come first, ours after them.
                right = self.nested(|parser| parser.joins(right))?;
                condition = self.join_condition()?;
            }
            if condition != JoinCondition::None {
                left = joined(kind, false, left, right, condition);
            } else if matches!(kind, JoinKind::Left | JoinKind::Right) {
                return self.fail();
            } else {
                left = join_leftmost(kind, left, right);
            }
        }
        Ok(left)
    }

    fn at_join(&self) -> bool {
        matches!(
            self.kind(),
            T::Word(K::Join | K::Inner | K::Cross | K::StraightJoin | K::Natural | K::Left | K::Right)
        )
    }

    /// The words of a join: its kind and whether it is natural.
    fn join_words(&mut self) -> SqlResult<Option<(JoinKind, bool)>> {
        let words = [K::Join, K::Inner, K::Cross, K::StraightJoin, K::Natural, K::Left, K::Right];
        let Some(word) = self.accept_any(&words) else { return Ok(None) };
        let natural = word == K::Natural;
        let word =
            if natural { self.accept_any(&[K::Inner, K::Left, K::Right]).unwrap_or(K::Inner) } else { word };
        let kind = match word {
            K::StraightJoin => return Ok(Some((JoinKind::Straight, false))),
            K::Join => return Ok(Some((JoinKind::Inner, false))),
            K::Left => JoinKind::Left,
            K::Right => JoinKind::Right,
            _ => JoinKind::Inner,
        };
        if kind != JoinKind::Inner {
            self.accept(K::Outer);
        }
        self.expect(K::Join)?;
        Ok(Some((kind, natural)))
    }

    fn join_condition(&mut self) -> SqlResult<JoinCondition> {
        // INSERT .. SELECT .. FROM a JOIN b ON DUPLICATE KEY UPDATE ..
        let is_duplicate_clause =
            self.kind_at(1) == T::Word(K::Duplicate) && self.kind_at(2) == T::Word(K::Key);
        if self.at_word(K::On) && !is_duplicate_clause {
            self.advance();
            return Ok(JoinCondition::On(self.expression()?));
        }
        if self.accept(K::Using) {
            return Ok(JoinCondition::Using(self.parenthesised_list(Self::name)?));
        }
        Ok(JoinCondition::None)
    }

    #[inline(never)]
    fn table_factor_any(&mut self) -> SqlResult<TableReference> {
        match self.kind() {
            T::OpenParenthesis if self.opens_query() => self.derived(false),
            T::OpenParenthesis => self.nested(|parser| {
                Ok(TableReference::Nested(parser.parenthesised_list(Self::table_reference)?))
            }),
            T::Word(K::Lateral) => {
                self.advance();
                self.derived(true)
            }
            T::Word(K::JsonTable) => self.json_table(),
            T::OpenBrace => self.odbc_join(),
            _ => Ok(TableReference::Table(self.table_factor()?)),
        }
    }

    #[inline(never)]
    fn derived(&mut self, lateral: bool) -> SqlResult<TableReference> {
        let query = Box::new(self.parenthesised(Self::query)?);
        let explicit = self.accept(K::As);
        if !explicit && !self.kind().is_name() {
            return Err(sql_error!(ER_DERIVED_MUST_HAVE_ALIAS));
        }
        let alias = self.name()?;
        Ok(TableReference::Derived { query, lateral, alias, columns: self.optional_names()? })
    }

    /// `{ OJ a LEFT JOIN b ON .. }`.
    fn odbc_join(&mut self) -> SqlResult<TableReference> {
        self.advance();
        self.name()?;
        let inside = self.table_reference()?;
        self.expect_kind(T::CloseBrace)?;
        Ok(TableReference::Nested(vec![inside]))
    }

    /// A table with partitions, alias and index hints.
    #[inline(never)]
    pub(super) fn table_factor(&mut self) -> SqlResult<TableFactor> {
        let name = self.object_name()?;
        let partitions = self.optional_partitions()?;
        let alias = self.table_alias()?;
        let index_hints = self.index_hints()?;
        Ok(TableFactor { name, partitions, alias, index_hints })
    }

    /// `PARTITION (p0, p1)`.
    pub(super) fn optional_partitions(&mut self) -> SqlResult<Vec<Name>> {
        if self.accept(K::Partition) { self.parenthesised_list(Self::name) } else { Ok(Vec::new()) }
    }

    pub(super) fn table_alias(&mut self) -> SqlResult<Option<Name>> {
        let explicit = self.accept(K::As) || self.accept_kind(T::Equal);
        if explicit || self.kind().is_name() { self.name().map(Some) } else { Ok(None) }
    }

    fn index_hints(&mut self) -> SqlResult<Vec<IndexHint>> {
        let mut hints = Vec::new();
        while matches!(self.kind_at(1), T::Word(K::Index | K::Key)) {
            let kind = match self.accept_any(&[K::Use, K::Force, K::Ignore]) {
                Some(K::Use) => IndexHintKind::Use,
                Some(K::Force) => IndexHintKind::Force,
                Some(_) => IndexHintKind::Ignore,
                None => break,
            };
            self.advance();
            let scope = self.index_hint_scope()?;
            self.expect_kind(T::OpenParenthesis)?;
            let empty_allowed = kind == IndexHintKind::Use && self.kind() == T::CloseParenthesis;
            let indexes = if empty_allowed { Vec::new() } else { self.list(Self::index_name)? };
            self.expect_kind(T::CloseParenthesis)?;
            hints.push(IndexHint { kind, scope, indexes });
        }
        Ok(hints)
    }

    fn index_hint_scope(&mut self) -> SqlResult<Option<IndexHintScope>> {
        if !self.accept(K::For) {
            return Ok(None);
        }
        Ok(Some(match self.expect_any(&[K::Join, K::Order, K::Group])? {
            K::Join => IndexHintScope::Join,
            K::Order => {
                self.expect(K::By)?;
                IndexHintScope::OrderBy
            }
            _ => {
                self.expect(K::By)?;
                IndexHintScope::GroupBy
            }
        }))
    }

    /// The name of an index; PRIMARY is one.
    pub(super) fn index_name(&mut self) -> SqlResult<Name> {
        if self.at_word(K::Primary) { self.any_word() } else { self.name() }
    }

    #[inline(never)]
    fn json_table(&mut self) -> SqlResult<TableReference> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let document = self.expression()?;
        self.expect_kind(T::Comma)?;
        let path = self.path_literal()?;
        let columns = self.json_table_columns()?;
        self.expect_kind(T::CloseParenthesis)?;
        let Some(alias) = self.table_alias()? else {
            return Err(sql_error!(ER_TF_MUST_HAVE_ALIAS));
        };
        Ok(TableReference::JsonTable(Box::new(JsonTable { document, path, columns, alias })))
    }

    fn json_table_columns(&mut self) -> SqlResult<Vec<JsonTableColumn>> {
        self.nested(|parser| {
            parser.expect(K::Columns)?;
            parser.parenthesised_list(Self::json_table_column)
        })
    }

    fn json_table_column(&mut self) -> SqlResult<JsonTableColumn> {
        if self.accept(K::Nested) {
            self.accept(K::Path);
            let path = self.path_literal()?;
            return Ok(JsonTableColumn::Nested { path, columns: self.json_table_columns()? });
        }
        let name = self.name()?;
        if self.accept(K::For) {
            self.expect(K::Ordinality)?;
            return Ok(JsonTableColumn::Ordinality(name));
        }
        let mut data_type = self.data_type()?;
        if self.accept(K::Collate) {
            data_type.collation = Some(self.charset_name()?);
        }
        let exists = self.accept(K::Exists);
        self.expect(K::Path)?;
        let path = self.path_literal()?;
        let (on_empty, on_error) = self.json_reactions()?;
        Ok(JsonTableColumn::Path { name, data_type, exists, path, on_empty, on_error })
    }
}

fn joined(
    kind: JoinKind,
    natural: bool,
    left: TableReference,
    right: TableReference,
    condition: JoinCondition,
) -> TableReference {
    TableReference::Join(Box::new(Join { kind, natural, left, right, condition }))
}

/// A join without condition to a right side that has joins of its own: `a JOIN b JOIN c ON x` means
/// `(a JOIN b) JOIN c ON x`, so that the condition sees all three.
fn join_leftmost(kind: JoinKind, left: TableReference, mut right: TableReference) -> TableReference {
    let mut place = &mut right;
    while let TableReference::Join(join) = place {
        place = &mut join.left;
    }
    let leaf = std::mem::replace(place, TableReference::Nested(Vec::new()));
    *place = joined(kind, false, left, leaf, JoinCondition::None);
    right
}
