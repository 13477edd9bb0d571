//! Running a text statement by the plan of its shape. Entry point: [`Session::run_by_shape`]. The rules are in
//! `instance`'s `plan_cache.rs`; what has no kept plan goes the ordinary way through the parser.

use crate::execute::KeptRun;
use crate::kept_results::run_by_result;
use crate::planning::ParameterTyping;
use crate::session::Session;
use charset::CollationId;
use errors::{SqlError, SqlResult};
use expression::{ResultType, TypedValue};
use instance::{Planned, StatementTraits};
use instance::{RecentPlans, Shape};
use instance::{ShapeIdentity, ShapeKey};
use parser::ParseOptions;
use parser::ast::Statement;
use parser::digest::{DigestLiteral, digest};
use parser::token::TokenKind;
use std::sync::Arc;
use values::{ColumnType, Decimal, Value};
use wire::result::ClientChannel;

/// Longer texts are not looked up: reading them costs more than planning them.
const TEXT_BYTES_MAX: usize = 4096;
/// More literals than that make a list that is seldom the same again.
const LITERALS_MAX: usize = 64;

/// What a session keeps for statements by shape.
#[derive(Default)]
pub(crate) struct TextPlans {
    /// Literals of the running statement; kept to keep its memory.
    literals: Vec<DigestLiteral>,
    /// Their values; kept for the same reason, empty between statements.
    parameters: Vec<TypedValue>,
    recent: RecentPlans,
    /// Every statement goes the ordinary way: for tests that compare the two.
    pub switched_off: bool,
}

/// What is to be learned from a statement that goes the ordinary way.
pub(crate) struct Lesson {
    identity: ShapeIdentity,
}

/// What became of a text.
pub(crate) enum ByShape {
    /// It ran.
    Done,
    /// It goes the ordinary way.
    Ordinary(Option<Lesson>),
}

impl Session {
    /// Runs a text that is one statement by the kept plan of its shape, if there is one.
    pub(crate) fn run_by_shape(&mut self, text: &[u8], channel: &mut dyn ClientChannel) -> ByShape {
        if text.len() > TEXT_BYTES_MAX || self.text_plans.switched_off {
            return self.by_result(text, channel);
        }
        let mut literals = std::mem::take(&mut self.text_plans.literals);
        let outcome = match self.shape_key(text, &mut literals) {
            Some(key) => self.run_key(&key, text, channel),
            None => self.by_result(text, channel),
        };
        self.text_plans.literals = literals;
        outcome
    }

    /// Answers a text without a shape by a result that was kept.
    fn by_result(&mut self, text: &[u8], channel: &mut dyn ClientChannel) -> ByShape {
        match run_by_result(self, text, channel) {
            true => ByShape::Done,
            false => ByShape::Ordinary(None),
        }
    }

    /// The shape of a text; None where it has none that plans are kept for.
    fn shape_key<'t>(&self, text: &'t [u8], literals: &'t mut Vec<DigestLiteral>) -> Option<ShapeKey<'t>> {
        let settings = self.settings();
        let seed = self.instance.plan_cache().seed() ^ settings.fingerprint;
        let digest = digest(text, 0, settings.parse, seed, literals);
        let alone = text[digest.next..].iter().all(u8::is_ascii_whitespace);
        if !digest.cacheable || !alone || literals.len() > LITERALS_MAX {
            return None;
        }
        Some(ShapeKey::new(text, &digest, settings.fingerprint, literals))
    }

    fn run_key(&mut self, key: &ShapeKey<'_>, text: &[u8], channel: &mut dyn ClientChannel) -> ByShape {
        let is_current = |planned: &Arc<Planned>| planned.locks.are_current();
        let recent = self.text_plans.recent.take(key).filter(|(_, planned)| is_current(planned));
        let found = match recent {
            Some((identity, planned)) => Some((identity, Shape::Kept(planned))),
            None => self.instance.plan_cache().find(key),
        };
        // Of a plan that is kept and reads little there is nothing to gain.
        let is_short = matches!(&found, Some((_, Shape::Kept(planned))) if !planned.reads.is_long());
        if !is_short && run_by_result(self, text, channel) {
            if let Some((identity, Shape::Kept(planned))) = found {
                self.text_plans.recent.put(identity, planned);
            }
            return ByShape::Done;
        }
        let (identity, planned) = match found {
            None => return ByShape::Ordinary(Some(Lesson { identity: key.identity() })),
            Some((_, Shape::Ordinary(_))) => return ByShape::Ordinary(None),
            Some((identity, Shape::Candidate)) => (identity, None),
            Some((identity, Shape::Kept(planned))) => (identity, Some(planned).filter(is_current)),
        };
        let settings = self.settings();
        let (options, collation) = (settings.parse, settings.facts.connection_collation);
        let literals = key.literals();
        let mut parameters = std::mem::take(&mut self.text_plans.parameters);
        let is_typed = push_typed(&mut parameters, text, literals, options, collation);
        match planned {
            _ if !is_typed => {}
            Some(planned) => self.run_kept(identity, planned, text, &parameters, channel),
            None => self.run_candidate(identity, text, literals, &parameters, channel),
        }
        parameters.clear();
        self.text_plans.parameters = parameters;
        if is_typed { ByShape::Done } else { ByShape::Ordinary(None) }
    }

    fn run_kept(
        &mut self,
        identity: Arc<ShapeIdentity>,
        planned: Arc<Planned>,
        text: &[u8],
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) {
        let mut fits = true;
        self.run_guarded(planned.traits, text, channel, |session, channel| {
            let outcome = session.run_planned(&planned, parameters, channel);
            if planned.traits.changes_rows && names_parameter(&outcome) {
                return session.run_text_again(text, channel);
            }
            match outcome? {
                KeptRun::Done => Ok(()),
                // A definition changed between the look and the lock, or the day did.
                KeptRun::Outdated => {
                    fits = false;
                    session.instance.plan_cache().put(Arc::clone(&identity), Shape::Candidate);
                    session.run_text(text, channel)
                }
                KeptRun::OtherValues(rows) => {
                    let statement = parser::parse_one(text, 0, session.settings().parse)?.statement;
                    let typing = ParameterTyping::FromValues;
                    session.run_for_values(&planned, rows, &statement, typing, &[], channel)
                }
            }
        });
        if fits {
            self.text_plans.recent.put(identity, planned);
        }
    }

    /// Plans a shape with parameters, runs it and keeps the plan.
    fn run_candidate(
        &mut self,
        identity: Arc<ShapeIdentity>,
        text: &[u8],
        literals: &[DigestLiteral],
        parameters: &[TypedValue],
        channel: &mut dyn ClientChannel,
    ) {
        let Some(statement) = parser::parse_shape(text, self.settings().parse, literals) else {
            self.instance.plan_cache().put(identity, Shape::Ordinary(0));
            self.run_statements(text, None, channel);
            return;
        };
        let mut kept = None;
        let traits = StatementTraits::of(&statement);
        self.run_guarded(traits, text, channel, |session, channel| {
            let typing = ParameterTyping::FromValues;
            let outcome = session.run_prepared(&statement, typing, Some(&mut kept), parameters, channel);
            match traits.changes_rows && names_parameter(&outcome) {
                true => session.run_text_again(text, channel),
                false => outcome,
            }
        });
        let shape = match kept {
            Some(planned) if planned.prepared.is_repeatable() => Shape::Kept(Arc::new(planned)),
            _ => Shape::Ordinary(0),
        };
        self.instance.plan_cache().put(identity, shape);
    }

    /// Remembers whether the plan of a statement that went the ordinary way would serve other literals.
    pub(crate) fn learn(&mut self, lesson: Lesson, planned: Option<&Planned>) {
        let repeatable = planned.is_some_and(|planned| planned.prepared.is_repeatable());
        let shape = if repeatable { Shape::Candidate } else { Shape::Ordinary(0) };
        self.instance.plan_cache().put(Arc::new(lesson.identity), shape);
    }

    /// Runs a change again that failed by a plan with parameters and was undone, as its text says: for the error's text. A query has
    /// told its client of columns by then.
    fn run_text_again(&mut self, text: &[u8], channel: &mut dyn ClientChannel) -> SqlResult<()> {
        self.diagnostics.clear();
        self.run_text(text, channel)
    }

    /// Parses and runs a query or row change within a statement that has begun.
    pub(crate) fn run_text(&mut self, text: &[u8], channel: &mut dyn ClientChannel) -> SqlResult<()> {
        let parsed = parser::parse_one(text, 0, self.settings().parse)?;
        self.run_data_statement(&parsed.statement, channel)
    }
}

/// Whether a failure shows an expression, in which the client is to see its literals: error 1690.
fn names_parameter<T>(outcome: &SqlResult<T>) -> bool {
    let shows =
        |error: &SqlError| error.is(&errors::code::ER_DATA_OUT_OF_RANGE) && error.message().contains('?');
    outcome.as_ref().is_err_and(shows)
}

/// Statements whose shapes are remembered.
pub(crate) fn may_have_shape(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)
    )
}

/// Adds the literals as parameters. False for a number that BIGINT or DECIMAL does not hold.
fn push_typed(
    parameters: &mut Vec<TypedValue>,
    text: &[u8],
    literals: &[DigestLiteral],
    options: ParseOptions,
    collation: CollationId,
) -> bool {
    for literal in literals {
        match typed_literal(literal, text, options, collation) {
            Some(value) => parameters.push(value),
            None => return false,
        }
    }
    true
}

fn typed_literal(
    literal: &DigestLiteral,
    text: &[u8],
    options: ParseOptions,
    collation: CollationId,
) -> Option<TypedValue> {
    let digits = literal.text(text);
    let (value, column_type) = match literal.kind {
        TokenKind::Integer => (Value::Int(integer(digits)?), ColumnType::big_int()),
        TokenKind::Decimal => {
            let parsed = Decimal::parse(digits);
            if parsed.overflow {
                return None;
            }
            let result = ResultType::of_decimal(&parsed.number);
            (Value::Decimal(parsed.number), result.column_type)
        }
        TokenKind::Float => {
            let number: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
            if !number.is_finite() {
                return None;
            }
            (Value::Double(number), ColumnType::double())
        }
        _ => {
            let mut column_type = ColumnType::new(values::TypeKind::VarChar);
            column_type.collation = collation;
            // The same for all: a plan must not depend on the length of one of them.
            column_type.length = Some(TEXT_BYTES_MAX as u32);
            (Value::Bytes(literal.string(text, options)), column_type)
        }
    };
    Some(TypedValue { value, column_type })
}

fn integer(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0i64, |number, digit| {
        number.checked_mul(10)?.checked_add(i64::from(digit.wrapping_sub(b'0')))
    })
}

#[cfg(test)]
mod tests;
