//! ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.

use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.
pub(crate) fn table_maintenance(parser: &mut Parser, word: Keyword) -> SqlResult<Statement> {
    let command = match word {
        K::Analyze => MaintenanceCommand::Analyze,
        K::Check => MaintenanceCommand::Check,
        K::Checksum => MaintenanceCommand::Checksum,
        K::Optimize => MaintenanceCommand::Optimize,
        _ => MaintenanceCommand::Repair,
    };
    parser.advance();
    let takes_local = matches!(word, K::Analyze | K::Optimize | K::Repair);
    let local = takes_local && parser.accept_any(&[K::NoWriteToBinlog, K::Local]).is_some();
    parser.expect_any(&[K::Table, K::Tables])?;
    let tables = parser.list(Parser::object_name)?;
    let mut options = Vec::new();
    let words: &[Keyword] = match command {
        MaintenanceCommand::Check => &[K::Quick, K::Fast, K::Medium, K::Extended, K::Changed],
        MaintenanceCommand::Checksum => &[K::Quick, K::Extended],
        MaintenanceCommand::Repair => &[K::Quick, K::Extended, K::UseFrm],
        MaintenanceCommand::Analyze | MaintenanceCommand::Optimize => &[],
    };
    loop {
        if let Some(word) = parser.accept_any(words) {
            options.push(word.text());
        } else if command == MaintenanceCommand::Check && parser.accept(K::For) {
            parser.expect(K::Upgrade)?;
            options.push("FOR UPGRADE");
        } else {
            break;
        }
    }
    let histogram = if command == MaintenanceCommand::Analyze { optional_histogram(parser)? } else { None };
    Ok(Statement::TableMaintenance(TableMaintenance { command, local, tables, options, histogram }))
}

fn optional_histogram(parser: &mut Parser) -> SqlResult<Option<Histogram>> {
    let Some(word) = parser.accept_any(&[K::Update, K::Drop]) else { return Ok(None) };
    parser.expect_all(&[K::Histogram, K::On])?;
    let columns = parser.list(Parser::name)?;
    if word == K::Drop {
        return Ok(Some(Histogram::Drop { columns }));
    }
    let (mut buckets, mut data) = (None, None);
    if parser.at_word(K::With) && parser.kind_at(1) == T::Integer {
        parser.advance();
        buckets = Some(parser.number()?);
        parser.expect(K::Buckets)?;
    } else if parser.accept(K::Using) {
        parser.expect(K::Data)?;
        data = Some(parser.string()?);
    }
    let auto_update = match parser.accept_any(&[K::Auto, K::Manual]) {
        Some(word) => {
            parser.expect(K::Update)?;
            Some(word == K::Auto)
        }
        None => None,
    };
    Ok(Some(Histogram::Update { columns, buckets, data, auto_update }))
}
