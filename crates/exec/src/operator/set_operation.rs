//! UNION, INTERSECT and EXCEPT. The rows of the operands stream, one operand after the other; only keys are kept. Main
//! type: [`SetOperationRun`].

use super::project::{distinct_key, distinct_modes};
use super::{Operator, open};
use crate::batch::RowBatch;
use crate::run::Run;
use crate::spill::ExactSlots;
use crate::spill::{Held, KeySet};
use errors::SqlResult;
use expression::EvaluationContext;
use expression::operators::ComparisonMode;
use parser::ast::SetOperator;
use plan::physical::{Node, SetOperation, SetTerm};
use std::collections::HashMap;
use values::ColumnType;

/// A set operation. A row of an operand passes the operators behind the operand, in their order; a loop over them
/// instead of an operator each, so that a long UNION does not nest.
pub struct SetOperationRun<'p> {
    operation: &'p SetOperation,
    modes: Vec<(ComparisonMode, ColumnType)>,
    exact: ExactSlots,
    /// One for each term that holds rows back, made by the first call.
    stages: Vec<Stage>,
    /// The operand that is being read: 0 is the first, then the terms.
    operand: usize,
    input: Option<Box<dyn Operator + 'p>>,
    rows: RowBatch,
    key: Vec<u8>,
}

/// What an operator does with the rows before it.
struct Stage {
    /// The term whose operator this is.
    term: usize,
    /// Rows of the right operand of INTERSECT and EXCEPT.
    right: Option<Right>,
    wants_present: bool,
    /// Rows that passed, where each may only once.
    seen: Option<KeySet>,
}

/// The right operand of INTERSECT and EXCEPT.
enum Right {
    Keys(KeySet),
    /// For ALL: each row of the right takes away, or lets pass, one of the left.
    Counts {
        counts: HashMap<Box<[u8]>, u64>,
        held: Held,
    },
}

impl Right {
    fn add(&mut self, key: &[u8]) -> SqlResult<()> {
        match self {
            Right::Keys(keys) => keys.insert(key).map(|_| ()),
            Right::Counts { counts, held } => {
                match counts.get_mut(key) {
                    Some(count) => *count += 1,
                    None => {
                        held.grow(key.len() as u64 + 64)?;
                        counts.insert(key.into(), 1);
                    }
                }
                Ok(())
            }
        }
    }

    fn matches(&mut self, key: &[u8]) -> SqlResult<bool> {
        match self {
            Right::Keys(keys) => keys.contains(key),
            Right::Counts { counts, .. } => match counts.get_mut(key).filter(|count| **count > 0) {
                Some(count) => {
                    *count -= 1;
                    Ok(true)
                }
                None => Ok(false),
            },
        }
    }
}

impl Stage {
    fn passes(&mut self, key: &[u8]) -> SqlResult<bool> {
        if let Some(right) = &mut self.right
            && right.matches(key)? != self.wants_present
        {
            return Ok(false);
        }
        match &mut self.seen {
            Some(seen) => seen.insert(key),
            None => Ok(true),
        }
    }
}

/// Whether rows that are equal behind that term are told apart later, so that they need not be here.
fn is_distinct_later(terms: &[SetTerm]) -> bool {
    for term in terms {
        match (term.operator, term.all) {
            (_, false) => return true,
            (SetOperator::Union, true) => {}
            (_, true) => return false,
        }
    }
    false
}

impl<'p> SetOperationRun<'p> {
    pub fn new(operation: &'p SetOperation) -> SetOperationRun<'p> {
        SetOperationRun {
            operation,
            modes: distinct_modes(&operation.columns),
            exact: ExactSlots::of(operation.columns.iter().enumerate()),
            stages: Vec::new(),
            operand: 0,
            input: None,
            rows: RowBatch::new(),
            key: Vec::new(),
        }
    }

    /// Reads the right operands of INTERSECT and EXCEPT.
    fn prepare(&mut self, run: &mut Run<'_, '_>) -> SqlResult<()> {
        let terms = &self.operation.rest;
        for (number, term) in terms.iter().enumerate() {
            let right = match (term.operator, term.all) {
                (SetOperator::Union, _) => None,
                (_, true) => Some(Right::Counts { counts: HashMap::new(), held: run.hold() }),
                (_, false) => Some(Right::Keys(run.key_set())),
            };
            let needs_keys = !term.all && !is_distinct_later(&terms[number + 1..]);
            let mut stage = Stage {
                term: number,
                right,
                wants_present: term.operator == SetOperator::Intersect,
                seen: needs_keys.then(|| run.key_set()),
            };
            if let Some(right) = &mut stage.right {
                let mut input = open(&term.node, run);
                while input.next(run, &mut self.rows)? {
                    run.check_killed()?;
                    for row in self.rows.iter() {
                        distinct_key(&self.modes, row, run, &mut self.key)?;
                        right.add(&self.key)?;
                    }
                }
            }
            if stage.right.is_some() || stage.seen.is_some() {
                self.stages.push(stage);
            }
        }
        self.rows.reset(0);
        self.input = Some(open(&self.operation.first, run));
        Ok(())
    }

    /// Fetches rows of the operands that stream. False at the end.
    fn fetch(&mut self, run: &mut Run<'_, '_>) -> SqlResult<bool> {
        loop {
            // Rows that were there already make no batch: nobody above looks at the flag meanwhile.
            run.check_killed()?;
            if let Some(input) = &mut self.input
                && input.next(run, &mut self.rows)?
            {
                return Ok(true);
            }
            let Some(term) = self.operation.rest.get(self.operand) else { return Ok(false) };
            self.operand += 1;
            self.input = (term.operator == SetOperator::Union).then(|| open(&term.node, run));
        }
    }
}

impl Operator for SetOperationRun<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        if self.input.is_none() && self.operand == 0 {
            self.prepare(run)?;
        }
        let width = self.modes.len();
        batch.reset(width);
        self.rows.want_for(batch, batch.wanted());
        while batch.is_empty() && self.fetch(run)? {
            // The operator before an operand of UNION is the first that its rows meet.
            let first = self.operand.saturating_sub(1);
            let met = self.stages.partition_point(|stage| stage.term < first);
            let stages = &mut self.stages[met..];
            for at in 0..self.rows.len() {
                let mut passes = true;
                if !stages.is_empty() {
                    distinct_key(&self.modes, self.rows.row(at), run, &mut self.key)?;
                }
                for stage in stages.iter_mut() {
                    passes = stage.passes(&self.key)?;
                    if !passes {
                        break;
                    }
                }
                if passes {
                    batch.push_taken(&mut self.rows, at);
                    self.exact.keep_decimals(batch.rows_mut());
                }
            }
        }
        Ok(!batch.is_empty())
    }
}

/// The rows of each node, one behind the other.
pub struct Append<'p> {
    inputs: std::slice::Iter<'p, Node>,
    current: Option<Box<dyn Operator + 'p>>,
}

impl<'p> Append<'p> {
    pub fn new(inputs: &'p [Node]) -> Append<'p> {
        Append { inputs: inputs.iter(), current: None }
    }
}

impl Operator for Append<'_> {
    fn next(&mut self, run: &mut Run<'_, '_>, batch: &mut RowBatch) -> SqlResult<bool> {
        loop {
            if let Some(current) = &mut self.current
                && current.next(run, batch)?
            {
                return Ok(true);
            }
            let Some(input) = self.inputs.next() else {
                batch.reset(0);
                return Ok(false);
            };
            self.current = Some(open(input, run));
        }
    }
}
