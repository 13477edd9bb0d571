//! LIKE and REGEXP. A constant REGEXP pattern is compiled once. Main types: [`Like`], [`Regexp`].

use crate::context::{EvaluationContext, LONG_BYTES, waiting_bytes};
use crate::convert;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::Expression;
use charset::{CollationId, Stopped};
use errors::{SqlResult, sql_error};
use functions::pieces::Uninterrupted;
use functions::regexp::{self, Bounds};
use functions::text;
use std::sync::{Arc, OnceLock};
use values::{RowRef, Value, ValueRef};

/// `operand LIKE pattern ESCAPE escape`.
#[derive(Clone, Debug)]
pub struct Like {
    /// The operand.
    pub operand: Expression,
    /// The pattern.
    pub pattern: Expression,
    /// The escape character; None for none at all (NO_BACKSLASH_ESCAPES).
    pub escape: Option<char>,
    /// NOT LIKE.
    pub negated: bool,
    /// The collation in which characters match.
    pub collation: CollationId,
}

/// What a pattern takes for each of its characters while a text is matched with it; twice that while its buffer grows.
const PATTERN_BYTES: usize = 12;

impl Like {
    /// The truth for one row.
    pub fn truth(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Option<bool>> {
        let operand = self.operand.operand(row, context)?;
        let converted;
        let subject = match operand.as_ref() {
            ValueRef::Null => return Ok(None),
            ValueRef::Bytes(bytes) => bytes,
            other => {
                converted = convert::to_text(other, &self.operand.result.column_type, context);
                match &converted {
                    Some(bytes) => bytes,
                    None => return Ok(None),
                }
            }
        };
        let pattern = self.pattern.operand_beside(waiting_bytes(&operand), row, context)?;
        let escape = self.escape.map(u32::from);
        let converted;
        let pattern = match pattern.as_ref() {
            ValueRef::Null => return Ok(None),
            ValueRef::Bytes(pattern) => pattern,
            other => {
                converted = convert::to_text(other, &self.pattern.result.column_type, context);
                match &converted {
                    Some(pattern) => pattern,
                    None => return Ok(None),
                }
            }
        };
        let waiting = if pattern.len() >= LONG_BYTES { pattern.len() * PATTERN_BYTES } else { 0 };
        context.occupy(waiting)?;
        let mut keep_on = || context.check_killed().is_ok();
        let found = self.collation.get().like(subject, pattern, escape, &mut keep_on);
        context.vacate(waiting);
        let found = found.map_err(|Stopped| sql_error!(ER_QUERY_INTERRUPTED))?;
        Ok(Some(found != self.negated))
    }
}

/// The text that every match of a pattern begins with, up to the first wildcard, and whether there is no wildcard
/// at all.
pub fn like_prefix(pattern: &[u8], escape: Option<char>, collation: CollationId) -> (Vec<u8>, bool) {
    let mut prefix = Vec::new();
    let escape = escape.map(u32::from);
    let mut escaped = false;
    let mut at = 0;
    for decoded in collation.charset().characters(pattern) {
        let bytes = &pattern[at..at + decoded.length];
        at += decoded.length;
        if escaped {
            escaped = false;
        } else if decoded.character == escape && escape.is_some() {
            escaped = true;
            continue;
        } else if decoded.character == Some(u32::from('%')) || decoded.character == Some(u32::from('_')) {
            return (prefix, false);
        }
        prefix.extend_from_slice(bytes);
    }
    (prefix, !escaped)
}

/// `operand REGEXP pattern`.
#[derive(Clone, Debug)]
pub struct Regexp {
    /// The operand.
    pub operand: Expression,
    /// The pattern.
    pub pattern: Expression,
    /// NOT REGEXP.
    pub negated: bool,
    /// The collation in which characters match.
    pub collation: CollationId,
    /// Of a constant pattern, with what it takes.
    compiled: OnceLock<(Arc<regexp::Regex>, usize)>,
}

/// Error 3995 where one of two arguments of a regular expression function is text and the other is bytes.
pub fn check_regexp_sets(left: &ResultType, right: &ResultType, function: &str) -> SqlResult<()> {
    let is_text = |result: &ResultType| result.class() == TypeClass::Text;
    let is_bytes = |result: &ResultType| result.collation() == CollationId::BINARY;
    if is_text(left) && is_text(right) && is_bytes(left) != is_bytes(right) {
        let (left, right) = (text::collation_name(left.collation()), text::collation_name(right.collation()));
        return Err(sql_error!(ER_CHARACTER_SET_MISMATCH, left, right, function));
    }
    Ok(())
}

/// Whether a constant pattern is compiled at once.
fn is_short(pattern: &Value) -> bool {
    const SHORT_BYTES: usize = 4 << 10;
    matches!(pattern, Value::Bytes(bytes) if bytes.len() <= SHORT_BYTES)
}

impl Regexp {
    /// Builds the operator; both operands have their common collation already.
    pub fn new(
        operand: Expression,
        pattern: Expression,
        negated: bool,
        collation: CollationId,
    ) -> SqlResult<Regexp> {
        let compiled = OnceLock::new();
        // What takes long to compile waits for who can be asked whether to go on.
        if let Some(Value::Bytes(bytes)) = pattern.literal().filter(|pattern| is_short(pattern)) {
            let pattern = text::to_utf8(bytes, collation);
            let regex = regexp::compile(&pattern, text::is_case_sensitive(collation), "", &Uninterrupted)?;
            let _ = compiled.set((Arc::new(regex), 0));
        }
        Ok(Regexp { operand, pattern, negated, collation, compiled })
    }

    /// The truth for one row.
    pub fn truth(&self, row: RowRef<'_>, context: &mut dyn EvaluationContext) -> SqlResult<Option<bool>> {
        let mut waiting = 0;
        let (compiled, taken) = match self.compiled.get() {
            Some((regex, bytes)) => {
                context.occupy(*bytes)?;
                (regex.clone(), *bytes)
            }
            None => {
                let pattern = self.pattern.operand(row, context)?;
                waiting = waiting_bytes(&pattern);
                let column_type = &self.pattern.result.column_type;
                let Some(pattern) = convert::to_text(pattern.as_ref(), column_type, context) else {
                    return Ok(None);
                };
                self.compile(&text::to_utf8(&pattern, self.collation), context)?
            }
        };
        let found = self.finds(&compiled, waiting, row, context);
        context.vacate(taken);
        Ok(found?.map(|found| found != self.negated))
    }

    /// Compiles a pattern; what it takes is counted then.
    fn compile(
        &self,
        pattern: &str,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<(Arc<regexp::Regex>, usize)> {
        let bytes = regexp::compiled_bytes(pattern);
        let bytes = if bytes >= LONG_BYTES { bytes } else { 0 };
        context.occupy(bytes)?;
        let regex = regexp::compile(pattern, text::is_case_sensitive(self.collation), "", &context);
        if regex.is_err() {
            context.vacate(bytes);
        }
        let compiled = (Arc::new(regex?), bytes);
        if self.pattern.literal().is_some() {
            let _ = self.compiled.set(compiled.clone());
        }
        Ok(compiled)
    }

    /// Whether the text of a row has a match; None for NULL.
    fn finds(
        &self,
        compiled: &regexp::Regex,
        waiting: usize,
        row: RowRef<'_>,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Option<bool>> {
        let operand = self.operand.operand_beside(waiting, row, context)?;
        let Some(subject) = convert::to_text(operand.as_ref(), &self.operand.result.column_type, context)
        else {
            return Ok(None);
        };
        let bounds = Bounds { limits: context.facts().regexp_limits, interrupt: &context };
        regexp::is_match(compiled, &text::to_utf8(&subject, self.collation), bounds).map(Some)
    }
}
