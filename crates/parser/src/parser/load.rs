//! LOAD DATA and LOAD XML, and the file formats that SELECT .. INTO OUTFILE shares.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// At LOAD, DATA or XML behind it.
    pub(super) fn load(&mut self) -> SqlResult<Statement> {
        self.expect(K::Load)?;
        let xml = self.expect_any(&[K::Data, K::Xml])? == K::Xml;
        let priority = self.accept_any(&[K::LowPriority, K::Concurrent]);
        let local = self.accept(K::Local);
        self.expect(K::Infile)?;
        let path = self.string()?;
        let duplicates = match self.accept_any(&[K::Replace, K::Ignore]) {
            None => LoadDuplicates::Error,
            Some(K::Replace) => LoadDuplicates::Replace,
            Some(_) => LoadDuplicates::Ignore,
        };
        self.expect_all(&[K::Into, K::Table])?;
        let table = self.object_name()?;
        let partitions = self.optional_partitions()?;
        let charset = self.optional_charset()?;
        let rows_identified_by = if xml && self.accept(K::Rows) {
            self.expect_all(&[K::Identified, K::By])?;
            Some(self.string_or_bytes()?)
        } else {
            None
        };
        let format = self.file_format()?;
        let ignore_lines = self.ignored_lines()?;
        let columns = self.load_columns()?;
        let assignments = if self.accept(K::Set) { self.list(Self::assignment)? } else { Vec::new() };
        Ok(Statement::Load(Box::new(Load {
            xml,
            low_priority: priority == Some(K::LowPriority),
            concurrent: priority == Some(K::Concurrent),
            local,
            path,
            duplicates,
            table,
            partitions,
            charset,
            rows_identified_by,
            format,
            ignore_lines,
            columns,
            assignments,
        })))
    }

    fn ignored_lines(&mut self) -> SqlResult<u64> {
        if !self.accept(K::Ignore) {
            return Ok(0);
        }
        let count = self.number()?;
        self.expect_any(&[K::Lines, K::Rows])?;
        Ok(count)
    }

    fn load_columns(&mut self) -> SqlResult<Vec<LoadColumn>> {
        if !self.accept_kind(T::OpenParenthesis) {
            return Ok(Vec::new());
        }
        if self.accept_kind(T::CloseParenthesis) {
            return Ok(Vec::new());
        }
        let columns = self.list(|parser| {
            if parser.kind() == T::UserVariable {
                return Ok(LoadColumn::UserVariable(parser.user_variable()?));
            }
            Ok(LoadColumn::Column(parser.column_reference()?))
        })?;
        self.expect_kind(T::CloseParenthesis)?;
        Ok(columns)
    }

    /// `FIELDS ..` and `LINES ..`, each optional.
    pub(super) fn file_format(&mut self) -> SqlResult<FileFormat> {
        let mut format = FileFormat::default();
        if self.accept_any(&[K::Fields, K::Columns]).is_some() {
            let start = self.at;
            while self.field_clause(&mut format)? {}
            if self.at == start {
                return self.fail();
            }
        }
        if self.accept(K::Lines) {
            let start = self.at;
            while let Some(word) = self.accept_any(&[K::Terminated, K::Starting]) {
                self.expect(K::By)?;
                let value = Some(self.string_or_bytes()?);
                match word {
                    K::Terminated => format.lines_terminated = value,
                    _ => format.lines_starting = value,
                }
            }
            if self.at == start {
                return self.fail();
            }
        }
        Ok(format)
    }

    fn field_clause(&mut self, format: &mut FileFormat) -> SqlResult<bool> {
        let optionally = self.accept(K::Optionally);
        let allowed: &[Keyword] =
            if optionally { &[K::Enclosed] } else { &[K::Terminated, K::Enclosed, K::Escaped] };
        let Some(word) = self.accept_any(allowed) else {
            return if optionally { self.fail() } else { Ok(false) };
        };
        self.expect(K::By)?;
        let value = Some(self.string_or_bytes()?);
        match word {
            K::Terminated => format.fields_terminated = value,
            K::Escaped => format.fields_escaped = value,
            _ => {
                format.fields_enclosed = value;
                format.optionally_enclosed = optionally;
            }
        }
        Ok(true)
    }
}
