//! Frames of windows. Main functions: [`bind_frame`], [`check_frame`], [`check_offsets`].

use super::{Binder, Wanted};
use ::expression::TypeClass;
use errors::{SqlResult, sql_error};
use optimizer::{BoundFrame, BoundFrameBound, BoundWindow};
use parser::ast;
use plan::physical::SortKey;
use plan::window::{is_no_distance, whole_count};

/// Binds a frame. Error 1235 for what MySQL knows and does not do; 3584, 3585 and 3586 for bounds that cannot be.
pub(super) fn bind_frame(
    binder: &mut Binder<'_>,
    frame: &ast::WindowFrame,
    order: &[SortKey],
) -> SqlResult<BoundFrame> {
    let window = binder.block().windows.within.clone().unwrap_or_default();
    if frame.unit == ast::FrameUnit::Groups {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "GROUPS"));
    }
    if frame.exclusion.is_some() {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXCLUDE"));
    }
    use ast::FrameBound as Bound;
    match (&frame.start, &frame.end) {
        (Bound::UnboundedFollowing, _) => Err(sql_error!(ER_WINDOW_FRAME_START_ILLEGAL, window)),
        (_, Bound::UnboundedPreceding) => Err(sql_error!(ER_WINDOW_FRAME_END_ILLEGAL, window)),
        (Bound::Following(_), Bound::Preceding(_) | Bound::CurrentRow)
        | (Bound::CurrentRow, Bound::Preceding(_)) => Err(sql_error!(ER_WINDOW_FRAME_ILLEGAL, window)),
        _ => Ok(()),
    }?;
    let is_rows = frame.unit == ast::FrameUnit::Rows;
    let start = bind_bound(binder, &frame.start, is_rows, order)?;
    let end = bind_bound(binder, &frame.end, is_rows, order)?;
    Ok(BoundFrame { is_rows, start, end })
}

fn bind_bound(
    binder: &mut Binder<'_>,
    bound: &ast::FrameBound,
    is_rows: bool,
    order: &[SortKey],
) -> SqlResult<BoundFrameBound> {
    let (offset, following) = match bound {
        ast::FrameBound::UnboundedPreceding | ast::FrameBound::UnboundedFollowing => {
            return Ok(BoundFrameBound::Unbounded);
        }
        ast::FrameBound::CurrentRow => return Ok(BoundFrameBound::Current),
        ast::FrameBound::Preceding(offset) => (offset, false),
        ast::FrameBound::Following(offset) => (offset, true),
    };
    let wanted = match (offset.unit, order.first()) {
        (Some(unit), _) => Wanted::interval(unit, binder.facts.connection).1,
        (None, Some(key)) if !is_rows => Wanted::like(&key.expression.result.column_type),
        _ => Wanted::whole_number(),
    };
    let amount = binder.scalar_as(&offset.amount, wanted)?;
    Ok(BoundFrameBound::Offset { offset: amount, unit: offset.unit, following })
}

/// Judges a frame by the window that it is of. Errors 3587 to 3590 and 3596.
pub(super) fn check_frame(window: &BoundWindow) -> SqlResult<()> {
    let name = window.shown_name();
    let Some(frame) = &window.frame else { return Ok(()) };
    for bound in [&frame.start, &frame.end] {
        let BoundFrameBound::Offset { offset, unit, .. } = bound else { continue };
        if frame.is_rows {
            if unit.is_some() {
                return Err(sql_error!(ER_WINDOW_ROWS_INTERVAL_USE, name));
            }
            continue;
        }
        let [key] = window.order.as_slice() else {
            return Err(sql_error!(ER_WINDOW_RANGE_FRAME_ORDER_TYPE, name));
        };
        match (key.expression.result.class(), unit) {
            (TypeClass::Text | TypeClass::Null, _) => {
                return Err(sql_error!(ER_WINDOW_RANGE_FRAME_ORDER_TYPE, name));
            }
            (TypeClass::DateTime | TypeClass::Time, None) => {
                return Err(sql_error!(ER_WINDOW_RANGE_FRAME_TEMPORAL_TYPE, name));
            }
            (TypeClass::Integer | TypeClass::Decimal | TypeClass::Double, Some(_)) => {
                return Err(sql_error!(ER_WINDOW_RANGE_FRAME_NUMERIC_TYPE, name));
            }
            _ => {}
        }
        if !offset.is_constant() {
            return Err(sql_error!(ER_WINDOW_RANGE_BOUND_NOT_CONSTANT, name));
        }
    }
    Ok(())
}

/// Error 3586 for an offset that is none, as far as it is known. Nobody looks at those of windows without functions.
pub(super) fn check_offsets(window: &BoundWindow) -> SqlResult<()> {
    let Some(frame) = &window.frame else { return Ok(()) };
    for bound in [&frame.start, &frame.end] {
        let BoundFrameBound::Offset { offset, .. } = bound else { continue };
        let Some(value) = offset.literal() else { continue };
        let is_none = if frame.is_rows { whole_count(value).is_none() } else { is_no_distance(value) };
        if is_none {
            return Err(sql_error!(ER_WINDOW_FRAME_ILLEGAL, window.shown_name()));
        }
    }
    Ok(())
}
