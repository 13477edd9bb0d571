//! Procedures, functions, triggers, events and libraries: recognised, with their text kept whole.
//! A body of BEGIN .. END holds semicolons, so that the statement's end is found by counting blocks.

use crate::parser::account::optional_definer;
use crate::parser::ddl::{if_exists, if_not_exists};
use crate::parser::tokens::append_tokens;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

/// Behind CREATE, ALTER or DROP at token `start`: a stored program, or None without moving.
pub(crate) fn optional_program(
    parser: &mut Parser,
    start: usize,
    action: ProgramAction,
) -> SqlResult<Option<Statement>> {
    let first = parser.at;
    let definer = if action == ProgramAction::Drop { None } else { optional_definer(parser)? };
    let words = [K::Procedure, K::Function, K::Trigger, K::Event, K::Library];
    let kind = match parser.accept_any(&words) {
        Some(K::Procedure) => ProgramKind::Procedure,
        Some(K::Function) => ProgramKind::Function,
        Some(K::Trigger) => ProgramKind::Trigger,
        Some(K::Event) => ProgramKind::Event,
        Some(_) => ProgramKind::Library,
        None => {
            parser.at = first;
            return Ok(None);
        }
    };
    let if_exists_clause = match action {
        ProgramAction::Create => if_not_exists(parser)?,
        _ => if_exists(parser)?,
    };
    let name = parser.object_name()?;
    match action {
        ProgramAction::Create => {
            if parser.at_end() {
                return parser.fail();
            }
            skip_program(parser);
        }
        ProgramAction::Alter => {
            while !parser.at_end() {
                parser.advance();
            }
        }
        ProgramAction::Drop => {}
    }
    let text = parser.string_since(start);
    Ok(Some(Statement::StoredProgram(StoredProgram { kind, action, if_exists_clause, definer, name, text })))
}

/// Reads tokens up to the end of the program, over the semicolons inside blocks.
fn skip_program(parser: &mut Parser) {
    let mut blocks = Blocks::default();
    loop {
        match parser.kind() {
            T::End => return,
            T::Semicolon if blocks.is_over() => return,
            T::Semicolon => {
                blocks.statement_start = true;
                extend_behind_semicolon(parser);
                parser.at += 1;
            }
            T::Name if parser.text_of(parser.token()).starts_with(b"$") => skip_dollar_quote(parser),
            kind => {
                blocks.read(kind, parser.kind_at(1), parser.kind_at(2));
                let skip_word = kind == T::Word(K::End);
                parser.advance();
                let block_words = [K::If, K::Case, K::Loop, K::While, K::Repeat];
                if skip_word {
                    parser.accept_any(&block_words);
                }
            }
        }
    }
}

/// Lexes the next part of the body: the token list ends at the first semicolon.
fn extend_behind_semicolon(parser: &mut Parser) {
    if parser.at + 1 < parser.tokens.len() {
        return;
    }
    let end = parser.token().end as usize;
    append_tokens(parser.source, end, parser.options, &mut parser.tokens);
    parser.closing.clear();
}

/// `$tag$ .. $tag$` around the body of a JavaScript program.
fn skip_dollar_quote(parser: &mut Parser) {
    let token = parser.token();
    let text = parser.text_of(token);
    let tag_end = text[1..].iter().position(|&byte| byte == b'$').map(|at| at + 2);
    let Some(tag_end) = tag_end else { return parser.advance() };
    let tag = &text[..tag_end];
    let body = &parser.source[token.start as usize + tag_end..];
    let Some(close) = body.windows(tag.len()).position(|window| window == tag) else {
        return parser.advance();
    };
    let end = token.start as usize + tag_end + close + tag.len();
    parser.tokens.truncate(parser.at);
    parser.tokens.push(Token { kind: T::String, start: token.start, end: end as u32 });
    append_tokens(parser.source, end, parser.options, &mut parser.tokens);
    parser.closing.clear();
    parser.at += 1;
}

/// What is known of the blocks of a body while its tokens go by.
#[derive(Default)]
struct Blocks {
    depth: u32,
    /// Whether a statement of a block starts at the next token.
    statement_start: bool,
    /// A body without block: IF and REPEAT are functions in it.
    simple: bool,
}

impl Blocks {
    fn is_over(&self) -> bool {
        self.depth == 0
    }

    fn read(&mut self, kind: TokenKind, next: TokenKind, after_next: TokenKind) {
        let starts = std::mem::take(&mut self.statement_start);
        let T::Word(word) = kind else {
            // A label is followed by the block that it names.
            self.statement_start = kind == T::Colon;
            return;
        };
        let in_header = self.depth == 0 && !self.simple;
        match word {
            K::Begin => self.open(),
            K::Case => self.depth += 1,
            K::If if starts => self.depth += 1,
            K::If
                if in_header
                    && !matches!((next, after_next), (T::Word(K::Not), _) | (T::Word(K::Exists), _)) =>
            {
                self.depth += 1;
            }
            K::Loop | K::Repeat if starts || in_header => self.open(),
            K::While if starts || in_header => self.depth += 1,
            K::End => self.depth = self.depth.saturating_sub(1),
            K::Then | K::Else | K::Do if self.depth > 0 => self.statement_start = true,
            K::Return | K::Select if in_header => self.simple = true,
            _ => {}
        }
    }

    fn open(&mut self) {
        self.depth += 1;
        self.statement_start = true;
    }
}
