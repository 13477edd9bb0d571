//! Aggregates, with DISTINCT, ORDER BY and what else stands in their parentheses.

use crate::parser::expression::expression_list;
use crate::parser::expression::window::optional_over;
use crate::parser::query::optional_order_by;
use crate::parser::*;
use Keyword as K;
use TokenKind as T;

#[inline(never)]
pub(crate) fn aggregate(parser: &mut Parser, kind: AggregateKind) -> SqlResult<Expression> {
    parser.advance();
    parser.expect_kind(T::OpenParenthesis)?;
    let takes_distinct = !matches!(kind, AggregateKind::JsonArrayagg | AggregateKind::JsonObjectagg);
    let mut call = AggregateCall {
        kind,
        distinct: takes_distinct && parser.accept_any(&[K::Distinct, K::Distinctrow]).is_some(),
        arguments: Vec::new(),
        order_by: Vec::new(),
        absent_on_null: false,
        separator: None,
        over: None,
    };
    if !call.distinct {
        parser.accept(K::All);
    }
    let star = kind == AggregateKind::Count && !call.distinct && parser.accept_kind(T::Star);
    if !star {
        call.arguments = expression_list(parser)?;
        check_aggregate_arguments(parser, &call)?;
    }
    if kind == AggregateKind::GroupConcat {
        call.order_by = optional_order_by(parser)?;
        if parser.accept(K::Separator) {
            call.separator = Some(parser.string_or_bytes()?);
        }
    }
    if kind == AggregateKind::JsonArrayagg
        && let Some(word) = parser.accept_any(&[K::Null, K::Absent])
    {
        parser.expect_all(&[K::On, K::Null])?;
        call.absent_on_null = word == K::Absent;
    }
    parser.expect_kind(T::CloseParenthesis)?;
    call.over = optional_over(parser)?;
    Ok(Expression::Aggregate(Box::new(call)))
}

fn check_aggregate_arguments(parser: &Parser, call: &AggregateCall) -> SqlResult<()> {
    use AggregateKind as A;
    let allowed = match call.kind {
        A::GroupConcat => true,
        A::Count => call.distinct || call.arguments.len() == 1,
        A::JsonObjectagg => call.arguments.len() == 2,
        _ => call.arguments.len() == 1,
    };
    let distinct_allowed =
        matches!(call.kind, A::Count | A::Sum | A::Avg | A::Min | A::Max | A::GroupConcat | A::StCollect);
    if allowed && (distinct_allowed || !call.distinct) { Ok(()) } else { parser.fail() }
}

pub(crate) fn aggregate_kind(lower: &str) -> Option<AggregateKind> {
    use AggregateKind as A;
    Some(match lower {
        "count" => A::Count,
        "sum" => A::Sum,
        "avg" => A::Avg,
        "min" => A::Min,
        "max" => A::Max,
        "group_concat" => A::GroupConcat,
        "bit_and" => A::BitAnd,
        "bit_or" => A::BitOr,
        "bit_xor" => A::BitXor,
        "std" | "stddev" | "stddev_pop" => A::StddevPop,
        "stddev_samp" => A::StddevSamp,
        "variance" | "var_pop" => A::VarPop,
        "var_samp" => A::VarSamp,
        "json_arrayagg" => A::JsonArrayagg,
        "json_objectagg" => A::JsonObjectagg,
        "st_collect" => A::StCollect,
        _ => return None,
    })
}
