//! CREATE, ALTER and DROP DATABASE.

use crate::parser::ddl::{if_exists, if_not_exists};
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Behind CREATE DATABASE.
pub(crate) fn create_database(parser: &mut Parser) -> SqlResult<Statement> {
    let if_not_exists = if_not_exists(parser)?;
    let name = parser.name()?;
    Ok(Statement::CreateDatabase(CreateDatabase { name, if_not_exists, options: database_options(parser)? }))
}

/// Behind ALTER DATABASE.
pub(crate) fn alter_database(parser: &mut Parser) -> SqlResult<Statement> {
    let at_option = at_database_option(parser);
    let name = if at_option { None } else { Some(parser.name()?) };
    let options = database_options(parser)?;
    if options.is_empty() {
        return parser.fail();
    }
    Ok(Statement::AlterDatabase(AlterDatabase { name, options }))
}

/// The words also are names: `ALTER DATABASE encryption ENCRYPTION 'Y'`.
fn at_database_option(parser: &Parser) -> bool {
    match parser.kind() {
        T::Word(K::Default | K::Collate | K::Character | K::Char | K::Read) => true,
        T::Word(K::Charset | K::Encryption) => {
            !matches!(parser.kind_at(1), T::Word(word) if word != K::Binary)
        }
        _ => false,
    }
}

fn database_options(parser: &mut Parser) -> SqlResult<Vec<DatabaseOption>> {
    let mut options = Vec::new();
    loop {
        let is_default = parser.accept(K::Default);
        if parser.accept_charset_words()? {
            parser.accept_equal();
            options.push(DatabaseOption::Charset(charset_or_default(parser)?));
        } else if parser.accept(K::Collate) {
            parser.accept_equal();
            options.push(DatabaseOption::Collate(charset_or_default(parser)?));
        } else if parser.accept(K::Encryption) {
            parser.accept_equal();
            options.push(DatabaseOption::Encryption(parser.string()?));
        } else if !is_default && parser.accept(K::Read) {
            parser.expect(K::Only)?;
            parser.accept_equal();
            let value = if parser.accept(K::Default) { None } else { Some(parser.number()? != 0) };
            options.push(DatabaseOption::ReadOnly(value));
        } else if is_default {
            return parser.fail();
        } else {
            return Ok(options);
        }
    }
}

fn charset_or_default(parser: &mut Parser) -> SqlResult<Name> {
    if parser.at_word(K::Default) { parser.any_word() } else { parser.charset_name() }
}

/// Behind DROP DATABASE.
pub(crate) fn drop_database(parser: &mut Parser) -> SqlResult<Statement> {
    let if_exists = if_exists(parser)?;
    Ok(Statement::DropDatabase { name: parser.name()?, if_exists })
}
