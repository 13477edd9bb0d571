//! Reading optimizer hints. Entry point: [`read`]. A comment is read up to its first mistake, which is a warning; what stands before
//! it counts, as in MySQL. Words are looked up in `names`, `scanner` has the tokens.

mod names;
mod printed;
mod scanner;

use crate::ast::{Hint, HintKind, HintValue, HintedTable, Query, QueryBody, Select, SetVariableHint};
use names::{Form, form_of};
use scanner::{HintToken, Scanner};

/// What a comment says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HintComment {
    /// Hints for blocks and tables, those for other blocks too.
    pub hints: Vec<Hint>,
    /// SET_VAR.
    pub set_variables: Vec<SetVariableHint>,
    /// MAX_EXECUTION_TIME in milliseconds, each time it is said.
    pub execution_times: Vec<u64>,
    /// RESOURCE_GROUP.
    pub resource_groups: Vec<String>,
    /// Where reading stopped, and whether a number was too large there.
    pub mistake: Option<Mistake>,
}

/// A mistake in a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Byte in the source.
    pub at: usize,
    /// MAX_EXECUTION_TIME is beyond 32 bits.
    pub is_time: bool,
}

/// Reads the comment that stands at those bytes of the source, `/*+` and `*/` included.
pub(crate) fn read(source: &[u8], start: usize, end: usize, ansi_quotes: bool) -> HintComment {
    let scanner = Scanner::new(source, start + 3, end.saturating_sub(2).max(start + 3), ansi_quotes);
    let mut reader = Reader { scanner, comment: HintComment::default() };
    let mut count = 0;
    loop {
        if reader.scanner.peek() == HintToken::End && count > 0 {
            break;
        }
        if let Err(mistake) = reader.hint() {
            reader.comment.mistake = Some(mistake);
            break;
        }
        count += 1;
    }
    reader.comment
}

/// MAX_EXECUTION_TIME of a query, in milliseconds: that of its first SELECT counts. None if there is none, or it is 0.
pub fn max_execution_time(query: &Query) -> Option<u64> {
    first_select(&query.body)?.execution_time_max.filter(|milliseconds| *milliseconds > 0)
}

/// Whether it is said there at all.
pub(crate) fn says_execution_time(query: &Query) -> bool {
    first_select(&query.body).is_some_and(|select| select.execution_time_max.is_some())
}

fn first_select(body: &QueryBody) -> Option<&Select> {
    match body {
        QueryBody::Select(select) => Some(select),
        QueryBody::SetOperation(operation) => first_select(&operation.first),
        QueryBody::Nested(query) => first_select(&query.body),
        QueryBody::Values(_) | QueryBody::Table(_) => None,
    }
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    comment: HintComment,
}

impl Reader<'_> {
    fn fail<T>(&self) -> Result<T, Mistake> {
        Err(Mistake { at: self.scanner.at(), is_time: false })
    }

    fn expect(&mut self, wanted: HintToken) -> Result<(), Mistake> {
        if self.scanner.peek() != wanted {
            return self.fail();
        }
        self.scanner.advance();
        Ok(())
    }

    fn accept(&mut self, wanted: HintToken) -> bool {
        let found = self.scanner.peek() == wanted;
        if found {
            self.scanner.advance();
        }
        found
    }

    /// A name, in backticks or not.
    fn name(&mut self) -> Result<String, Mistake> {
        match self.scanner.peek() {
            HintToken::Word(word) | HintToken::Quoted(word) => {
                self.scanner.advance();
                Ok(word)
            }
            _ => self.fail(),
        }
    }

    /// One hint with its parentheses.
    fn hint(&mut self) -> Result<(), Mistake> {
        let HintToken::Word(word) = self.scanner.peek() else { return self.fail() };
        let Some((form, kind, on)) = form_of(&word) else { return self.fail() };
        self.scanner.advance();
        self.expect(HintToken::Open)?;
        match form {
            Form::ExecutionTime => self.execution_time()?,
            Form::ResourceGroup => {
                let name = self.name()?;
                self.expect(HintToken::Close)?;
                self.comment.resource_groups.push(name);
            }
            Form::SetVariable => self.set_variable()?,
            Form::BlockName => {
                let words = vec![self.name()?];
                self.expect(HintToken::Close)?;
                self.add(kind, on, None, Vec::new(), words);
            }
            Form::Tables => self.tables(kind, on)?,
            Form::Indexes => self.indexes(kind, on)?,
            Form::Order => {
                let block = self.block()?;
                let tables = self.table_list()?;
                self.expect(HintToken::Close)?;
                self.add(kind, on, block, tables, Vec::new());
            }
            Form::Block => {
                let block = self.block()?;
                self.expect(HintToken::Close)?;
                self.add(kind, on, block, Vec::new(), Vec::new());
            }
            Form::Strategies { known, required } => self.strategies(kind, on, known, required)?,
        }
        Ok(())
    }

    fn add(
        &mut self,
        kind: HintKind,
        on: bool,
        block: Option<String>,
        tables: Vec<HintedTable>,
        words: Vec<String>,
    ) {
        self.comment.hints.push(Hint { kind, on, block, tables, words });
    }

    fn execution_time(&mut self) -> Result<(), Mistake> {
        let HintToken::Integer(number) = self.scanner.peek() else { return self.fail() };
        self.scanner.advance();
        if number > u64::from(u32::MAX) {
            return Err(Mistake { at: self.scanner.at(), is_time: true });
        }
        self.expect(HintToken::Close)?;
        self.comment.execution_times.push(number);
        Ok(())
    }

    fn set_variable(&mut self) -> Result<(), Mistake> {
        let name = self.name()?;
        self.expect(HintToken::Equal)?;
        let value = match self.scanner.peek() {
            HintToken::Integer(number) | HintToken::Sized(number) => HintValue::Integer(number),
            HintToken::Decimal(text) => HintValue::Decimal(text),
            HintToken::Text(text) | HintToken::Word(text) | HintToken::Quoted(text) => HintValue::Text(text),
            _ => return self.fail(),
        };
        self.scanner.advance();
        self.expect(HintToken::Close)?;
        self.comment.set_variables.push(SetVariableHint { name, value });
        Ok(())
    }

    /// `@block`, if it is there.
    fn block(&mut self) -> Result<Option<String>, Mistake> {
        if self.accept(HintToken::At) { self.name().map(Some) } else { Ok(None) }
    }

    fn table(&mut self) -> Result<HintedTable, Mistake> {
        Ok(HintedTable { name: self.name()?, block: self.block()? })
    }

    fn table_list(&mut self) -> Result<Vec<HintedTable>, Mistake> {
        let mut tables = vec![self.table()?];
        while self.accept(HintToken::Comma) {
            tables.push(self.table()?);
        }
        Ok(tables)
    }

    /// A hint for some tables is one for each of them.
    fn tables(&mut self, kind: HintKind, on: bool) -> Result<(), Mistake> {
        let block = self.block()?;
        if self.accept(HintToken::Close) {
            self.add(kind, on, block, Vec::new(), Vec::new());
            return Ok(());
        }
        let tables = self.table_list()?;
        self.expect(HintToken::Close)?;
        for mut table in tables {
            let block = block.clone().or_else(|| table.block.take());
            self.add(kind, on, block, vec![table], Vec::new());
        }
        Ok(())
    }

    fn indexes(&mut self, kind: HintKind, on: bool) -> Result<(), Mistake> {
        let block = self.block()?;
        let mut table = self.table()?;
        let mut indexes = Vec::new();
        if self.scanner.peek() != HintToken::Close {
            indexes.push(self.name()?);
            while self.accept(HintToken::Comma) {
                indexes.push(self.name()?);
            }
        }
        self.expect(HintToken::Close)?;
        let block = block.or_else(|| table.block.take());
        self.add(kind, on, block, vec![table], indexes);
        Ok(())
    }

    fn strategies(
        &mut self,
        kind: HintKind,
        on: bool,
        known: &[&str],
        required: bool,
    ) -> Result<(), Mistake> {
        let block = self.block()?;
        let mut words = Vec::new();
        if required || self.scanner.peek() != HintToken::Close {
            loop {
                let HintToken::Word(word) = self.scanner.peek() else { return self.fail() };
                let word = word.to_ascii_uppercase();
                if !known.contains(&word.as_str()) {
                    return self.fail();
                }
                self.scanner.advance();
                words.push(word);
                if required || !self.accept(HintToken::Comma) {
                    break;
                }
            }
        }
        self.expect(HintToken::Close)?;
        self.add(kind, on, block, Vec::new(), words);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
