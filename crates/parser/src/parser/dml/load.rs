//! LOAD DATA and LOAD XML, and the file formats that SELECT .. INTO OUTFILE shares.

use crate::parser::dml::insert::assignment;
use crate::parser::query::from::optional_partitions;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// At LOAD, DATA or XML behind it.
pub(crate) fn load(parser: &mut Parser) -> SqlResult<Statement> {
    parser.expect(K::Load)?;
    let xml = parser.expect_any(&[K::Data, K::Xml])? == K::Xml;
    let priority = parser.accept_any(&[K::LowPriority, K::Concurrent]);
    let local = parser.accept(K::Local);
    parser.expect(K::Infile)?;
    let path = parser.string()?;
    let duplicates = match parser.accept_any(&[K::Replace, K::Ignore]) {
        None => LoadDuplicates::Error,
        Some(K::Replace) => LoadDuplicates::Replace,
        Some(_) => LoadDuplicates::Ignore,
    };
    parser.expect_all(&[K::Into, K::Table])?;
    let table = parser.object_name()?;
    let partitions = optional_partitions(parser)?;
    let charset = parser.optional_charset()?;
    let rows_identified_by = if xml && parser.accept(K::Rows) {
        parser.expect_all(&[K::Identified, K::By])?;
        Some(parser.string_or_bytes()?)
    } else {
        None
    };
    let format = file_format(parser)?;
    let ignore_lines = ignored_lines(parser)?;
    let columns = load_columns(parser)?;
    let assignments = if parser.accept(K::Set) { parser.list(assignment)? } else { Vec::new() };
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

fn ignored_lines(parser: &mut Parser) -> SqlResult<u64> {
    if !parser.accept(K::Ignore) {
        return Ok(0);
    }
    let count = parser.number()?;
    parser.expect_any(&[K::Lines, K::Rows])?;
    Ok(count)
}

fn load_columns(parser: &mut Parser) -> SqlResult<Vec<LoadColumn>> {
    if !parser.accept_kind(T::OpenParenthesis) {
        return Ok(Vec::new());
    }
    if parser.accept_kind(T::CloseParenthesis) {
        return Ok(Vec::new());
    }
    let columns = parser.list(|parser| {
        if parser.kind() == T::UserVariable {
            return Ok(LoadColumn::UserVariable(parser.user_variable()?));
        }
        Ok(LoadColumn::Column(parser.column_reference()?))
    })?;
    parser.expect_kind(T::CloseParenthesis)?;
    Ok(columns)
}

/// `FIELDS ..` and `LINES ..`, each optional.
pub(crate) fn file_format(parser: &mut Parser) -> SqlResult<FileFormat> {
    let mut format = FileFormat::default();
    if parser.accept_any(&[K::Fields, K::Columns]).is_some() {
        let start = parser.at;
        while field_clause(parser, &mut format)? {}
        if parser.at == start {
            return parser.fail();
        }
    }
    if parser.accept(K::Lines) {
        let start = parser.at;
        while let Some(word) = parser.accept_any(&[K::Terminated, K::Starting]) {
            parser.expect(K::By)?;
            let value = Some(parser.string_or_bytes()?);
            match word {
                K::Terminated => format.lines_terminated = value,
                _ => format.lines_starting = value,
            }
        }
        if parser.at == start {
            return parser.fail();
        }
    }
    Ok(format)
}

fn field_clause(parser: &mut Parser, format: &mut FileFormat) -> SqlResult<bool> {
    let optionally = parser.accept(K::Optionally);
    let allowed: &[Keyword] =
        if optionally { &[K::Enclosed] } else { &[K::Terminated, K::Enclosed, K::Escaped] };
    let Some(word) = parser.accept_any(allowed) else {
        return if optionally { parser.fail() } else { Ok(false) };
    };
    parser.expect(K::By)?;
    let value = Some(parser.string_or_bytes()?);
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
