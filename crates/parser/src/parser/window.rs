//! Window functions and window specifications.

use super::*;
use Keyword as K;
use TokenKind as T;

impl Parser<'_> {
    /// RANK() and the other functions that need OVER; an error for every other reserved word.
    #[inline(never)]
    pub(super) fn window_function(&mut self, word: Keyword) -> SqlResult<Expression> {
        use WindowFunctionKind as W;
        let kind = match word {
            K::RowNumber => W::RowNumber,
            K::Rank => W::Rank,
            K::DenseRank => W::DenseRank,
            K::PercentRank => W::PercentRank,
            K::CumeDist => W::CumeDist,
            K::Ntile => W::Ntile,
            K::Lead => W::Lead,
            K::Lag => W::Lag,
            K::FirstValue => W::FirstValue,
            K::LastValue => W::LastValue,
            K::NthValue => W::NthValue,
            _ => return self.fail(),
        };
        let arguments_allowed = match kind {
            W::RowNumber | W::Rank | W::DenseRank | W::PercentRank | W::CumeDist => 0..=0,
            W::Ntile | W::FirstValue | W::LastValue => 1..=1,
            W::NthValue => 2..=2,
            W::Lead | W::Lag => 1..=3,
        };
        self.advance();
        let arguments = self.call_arguments()?;
        let null_buckets = kind == W::Ntile && arguments.first() == Some(&Expression::Literal(Literal::Null));
        if !arguments_allowed.contains(&arguments.len()) || null_buckets {
            return self.fail();
        }
        let from_last =
            kind == W::NthValue && self.accept(K::From) && self.expect_any(&[K::First, K::Last])? == K::Last;
        let takes_nulls = matches!(kind, W::Lead | W::Lag | W::FirstValue | W::LastValue | W::NthValue);
        let nulls = if takes_nulls { self.accept_any(&[K::Respect, K::Ignore]) } else { None };
        if nulls.is_some() {
            self.expect(K::Nulls)?;
        }
        let Some(over) = self.optional_over()? else { return self.fail() };
        let ignore_nulls = nulls == Some(K::Ignore);
        Ok(Expression::WindowFunction(Box::new(WindowFunctionCall {
            kind,
            arguments,
            ignore_nulls,
            from_last,
            over,
        })))
    }

    /// `OVER name` or `OVER (specification)`.
    #[inline(never)]
    pub(super) fn optional_over(&mut self) -> SqlResult<Option<Over>> {
        if !self.accept(K::Over) {
            return Ok(None);
        }
        if self.kind() != T::OpenParenthesis {
            return Ok(Some(Over::Name(self.name()?)));
        }
        Ok(Some(Over::Window(self.parenthesised(Self::window_specification)?)))
    }

    pub(super) fn window_specification(&mut self) -> SqlResult<WindowSpecification> {
        let base = if self.kind().is_name() { Some(self.name()?) } else { None };
        let partition_by =
            if self.accept_all(&[K::Partition, K::By]) { self.expression_list()? } else { Vec::new() };
        let order_by = self.optional_order_by()?;
        let frame = self.optional_frame()?;
        Ok(WindowSpecification { base, partition_by, order_by, frame })
    }

    fn optional_frame(&mut self) -> SqlResult<Option<WindowFrame>> {
        let unit = match self.accept_any(&[K::Rows, K::Range, K::Groups]) {
            None => return Ok(None),
            Some(K::Rows) => FrameUnit::Rows,
            Some(K::Range) => FrameUnit::Range,
            Some(_) => FrameUnit::Groups,
        };
        let (start, end) = if self.accept(K::Between) {
            let start = self.frame_bound()?;
            self.expect(K::And)?;
            (start, self.frame_bound()?)
        } else {
            (self.frame_bound()?, FrameBound::CurrentRow)
        };
        let exclusion = self.frame_exclusion()?;
        Ok(Some(WindowFrame { unit, start, end, exclusion }))
    }

    fn frame_bound(&mut self) -> SqlResult<FrameBound> {
        if self.accept_all(&[K::Current, K::Row]) {
            return Ok(FrameBound::CurrentRow);
        }
        if self.accept(K::Unbounded) {
            return Ok(match self.expect_any(&[K::Preceding, K::Following])? {
                K::Preceding => FrameBound::UnboundedPreceding,
                _ => FrameBound::UnboundedFollowing,
            });
        }
        let is_interval = self.accept(K::Interval);
        // Without INTERVAL an offset is a number or a parameter: no sign, no arithmetic.
        let amount = if is_interval {
            self.expression()?
        } else if matches!(self.kind(), T::Integer | T::Decimal | T::Float | T::Hex | T::Parameter)
            || self.kind().is_name()
        {
            self.operand()?
        } else {
            return self.fail();
        };
        let amount = Box::new(amount);
        let unit = if is_interval { Some(self.interval_unit()?) } else { None };
        let offset = FrameOffset { amount, unit };
        Ok(match self.expect_any(&[K::Preceding, K::Following])? {
            K::Preceding => FrameBound::Preceding(offset),
            _ => FrameBound::Following(offset),
        })
    }

    fn frame_exclusion(&mut self) -> SqlResult<FrameExclusion> {
        if !self.accept(K::Exclude) {
            return Ok(FrameExclusion::NoOthers);
        }
        Ok(match self.expect_any(&[K::Current, K::Group, K::Ties, K::No])? {
            K::Current => {
                self.expect(K::Row)?;
                FrameExclusion::CurrentRow
            }
            K::Group => FrameExclusion::Group,
            K::Ties => FrameExclusion::Ties,
            _ => {
                self.expect(K::Others)?;
                FrameExclusion::NoOthers
            }
        })
    }
}
