//! Optimizer hints as the parser meets them. What they say is read in `crate::hint`.

use crate::hint::HintComment;
use crate::parser::*;
use TokenKind as T;

/// What was read of the statement's hints so far.
#[derive(Debug, Default)]
pub(crate) struct HintsRead {
    /// Those that are not for the block where they stand.
    pub statement: StatementHints,
    /// Mistakes, and what is said twice.
    pub warnings: Vec<SqlError>,
    /// Comments that have MAX_EXECUTION_TIME.
    pub execution_times: usize,
    /// Whether there is a hint of another kind.
    pub others: bool,
}

impl HintsRead {
    /// Notes what a comment of the source says. Gives the hints for the block where it stands, and MAX_EXECUTION_TIME.
    #[cold]
    pub fn note(
        &mut self,
        comment: HintComment,
        source: &[u8],
        options: ParseOptions,
    ) -> (Vec<Hint>, Option<u64>) {
        if let Some(mistake) = comment.mistake {
            let what = match mistake.is_time {
                true => "Unsupported MAX_EXECUTION_TIME",
                false => errors::code::ER_WARN_OPTIMIZER_HINT_SYNTAX_ERROR.format,
            };
            // Where the comment ends too early, MySQL shows its end and nothing behind it.
            let is_end = source[mistake.at..].starts_with(b"*/");
            let shown = if is_end { &source[..mistake.at + 2] } else { source };
            self.warnings.push(parse_error(what, shown, mistake.at, options));
        }
        for time in comment.execution_times.iter().skip(1) {
            let shown = format!("MAX_EXECUTION_TIME({time})");
            self.warnings.push(sql_error!(ER_WARN_CONFLICTING_HINT, shown));
        }
        for name in comment.resource_groups {
            self.warnings.push(sql_error!(ER_RESOURCE_GROUP_NOT_EXISTS, name));
        }
        let execution_time = comment.execution_times.first().copied();
        self.execution_times += usize::from(execution_time.is_some());
        self.others |= !comment.hints.is_empty() || !comment.set_variables.is_empty();
        self.statement.set_variables.extend(comment.set_variables);
        let (elsewhere, here) = comment.hints.into_iter().partition(|hint| hint.block.is_some());
        self.statement.elsewhere.extend::<Vec<Hint>>(elsewhere);
        (here, execution_time)
    }
}

/// The hints behind the word that was read: those for this block, and MAX_EXECUTION_TIME.
pub(crate) fn optional_hints(parser: &mut Parser) -> (Vec<Hint>, Option<u64>) {
    if parser.kind() != T::Hint {
        return (Vec::new(), None);
    }
    let (start, end) = (parser.token().start as usize, parser.token().end as usize);
    parser.advance();
    let comment = crate::hint::read(parser.source, start, end, parser.options.ansi_quotes);
    parser.hints.get_or_insert_default().note(comment, parser.source, parser.options)
}
