//! Optimizer hints as the parser meets them. What they say is read in `crate::hint`.

use super::*;
use crate::hint;

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

impl Parser<'_> {
    /// The hints behind the word that was read: those for this block, and MAX_EXECUTION_TIME.
    pub(super) fn optional_hints(&mut self) -> (Vec<Hint>, Option<u64>) {
        if self.kind() != TokenKind::Hint {
            return (Vec::new(), None);
        }
        self.hints_here()
    }

    #[cold]
    fn hints_here(&mut self) -> (Vec<Hint>, Option<u64>) {
        let token = self.token();
        let (start, end) = (token.start as usize, token.end as usize);
        self.advance();
        let comment = hint::read(self.source, start, end, self.options.ansi_quotes);
        if let Some(mistake) = comment.mistake {
            let what = match mistake.is_time {
                true => "Unsupported MAX_EXECUTION_TIME",
                false => errors::code::ER_WARN_OPTIMIZER_HINT_SYNTAX_ERROR.format,
            };
            self.hints.warnings.push(parse_error(what, self.source, mistake.at, self.options));
        }
        for time in comment.execution_times.iter().skip(1) {
            let shown = format!("MAX_EXECUTION_TIME({time})");
            self.hints.warnings.push(sql_error!(ER_WARN_CONFLICTING_HINT, shown));
        }
        for name in comment.resource_groups {
            self.hints.warnings.push(sql_error!(ER_RESOURCE_GROUP_NOT_EXISTS, name));
        }
        let execution_time = comment.execution_times.first().copied();
        self.hints.execution_times += usize::from(execution_time.is_some());
        self.hints.others |= !comment.hints.is_empty() || !comment.set_variables.is_empty();
        self.hints.statement.set_variables.extend(comment.set_variables);
        let (elsewhere, here) = comment.hints.into_iter().partition(|hint| hint.block.is_some());
        self.hints.statement.elsewhere.extend::<Vec<Hint>>(elsewhere);
        (here, execution_time)
    }

    /// What was read of the statement's hints.
    pub(crate) fn hints(&self) -> &HintsRead {
        &self.hints
    }
}
