//! Brings the operands of comparisons to where their values can be compared: one collation for texts, constants in
//! the form of the column beside them. Main functions: [`prepare_pair`], [`prepare_equal_values`], [`prepare_range`],
//! [`prepare_list`]. Called when an expression is built.

use super::cast::{Cast, CastFailure};
use super::comparison::{ComparisonMode, is_column_with_constant};
use super::listed_constant::{adapt_listed, own_name, wrong_text};
use super::stored_constant::{adapt_stored, adapt_year_parameter};
use crate::build::BuildFacts;
use crate::choice::{ask_variable, choose_numbers};
use crate::convert::written_date_rules;
use crate::derive::common_collation;
use crate::json;
use crate::result_type::{Coercibility, ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind};
use errors::{SqlResult, sql_error};
use functions::text;
use values::temporal::parse_date_time;
use values::{TypeKind, Value};

/// How the operands of a comparison operator are compared. A constant beside a date or a YEAR column is turned to what
/// that column would hold; error 1525 for text that is no date.
pub fn prepare_pair(
    operation: &str,
    left: &mut Expression,
    right: &mut Expression,
    facts: BuildFacts,
) -> SqlResult<ComparisonMode> {
    if is_json(left) || is_json(right) {
        return Ok(json_mode(left, right));
    }
    adapt_constant(left, right, facts)?;
    adapt_constant(right, left, facts)?;
    widen_date(left, right);
    widen_date(right, left);
    if !facts.literal_parameters {
        adapt_year_parameter(left, right);
        adapt_year_parameter(right, left);
    }
    // Of a date beside a column of times, its time counts.
    let is_time_with_date = |column: &Expression, constant: &Expression| {
        column.result.class() == TypeClass::Time
            && constant.result.class() == TypeClass::DateTime
            && is_column_with_constant(column, constant)
    };
    if is_time_with_date(left, right) || is_time_with_date(right, left) {
        return Ok(ComparisonMode::Time);
    }
    Ok(prepare_equal_values(operation, left, right, facts)?.with_dates(left, right))
}

/// As [`prepare_pair`] where constants stay as they are: CASE, IN and ANY with a subquery.
pub fn prepare_equal_values(
    operation: &str,
    left: &mut Expression,
    right: &mut Expression,
    facts: BuildFacts,
) -> SqlResult<ComparisonMode> {
    if is_json(left) || is_json(right) {
        return Ok(json_mode(left, right));
    }
    let mode = match facts.literal_parameters {
        true => ComparisonMode::choose(left, right),
        false => parameter_mode(left, right),
    };
    for side in [&mut *left, &mut *right] {
        match mode {
            ComparisonMode::Double => choose_numbers(side, &ResultType::double()),
            ComparisonMode::Decimal => ask_variable(side, &ResultType::longest_decimal()),
            _ => {}
        }
    }
    if !matches!(mode, ComparisonMode::Text(_)) {
        return Ok(mode);
    }
    text_mode(operation, &mut [left, right], facts)
}

fn is_json(operand: &Expression) -> bool {
    operand.result.class() == TypeClass::Json
}

/// What stands beside JSON becomes JSON.
fn json_mode(left: &mut Expression, right: &mut Expression) -> ComparisonMode {
    json::make_document(left);
    json::make_document(right);
    ComparisonMode::Json
}

/// How a parameter that has the type of its value is compared: a number beside a date or time is none, and text beside a
/// number is no exact one.
fn parameter_mode(left: &Expression, right: &Expression) -> ComparisonMode {
    use TypeClass::{DateTime, Decimal, Double, Integer, Text, Time};
    let mode = ComparisonMode::choose(left, right);
    let is_parameter = |side: &Expression| matches!(side.kind, ExpressionKind::Parameter(_));
    let classes = match (is_parameter(left), is_parameter(right)) {
        (true, false) => (left.result.class(), right.result.class()),
        (false, true) => (right.result.class(), left.result.class()),
        _ => return mode,
    };
    match classes {
        (Integer | Decimal, DateTime | Time) => ComparisonMode::Decimal,
        (Double, DateTime | Time) | (Text, Decimal) => ComparisonMode::Double,
        _ => mode,
    }
}

/// One collation for operands that are compared as text.
fn text_mode(
    operation: &str,
    operands: &mut [&mut Expression],
    facts: BuildFacts,
) -> SqlResult<ComparisonMode> {
    let common = common_collation(operands, facts.connection, operation, true)?;
    for operand in operands {
        if matches!(operand.result.class(), TypeClass::Time | TypeClass::DateTime) {
            let length = operand.result.text_length();
            let result = ResultType::text(length, common.collation, common.coercibility)
                .nullable_if(operand.result.nullable);
            let inner = std::mem::replace(*operand, Expression::null());
            **operand = Expression::convert_character_set(inner, result);
        }
    }
    Ok(ComparisonMode::Text(common.collation))
}

/// How a member of a row is compared with that of a row of an IN list of several: MySQL compares the texts of JSON
/// and of what stands beside it.
pub fn prepare_listed_member(
    operation: &str,
    left: &mut Expression,
    right: &mut Expression,
    facts: BuildFacts,
) -> SqlResult<ComparisonMode> {
    if is_json(left) || is_json(right) {
        for side in [&mut *left, &mut *right] {
            json::make_text(side);
            if !matches!(side.result.class(), TypeClass::Text | TypeClass::Null) {
                let length = side.result.text_length();
                let result = ResultType::text(length, facts.connection, Coercibility::Coercible);
                let result = result.nullable_if(side.result.nullable);
                let inner = std::mem::replace(side, Expression::null());
                *side = Expression::convert_character_set(inner, result);
            }
        }
    }
    prepare_equal_values(operation, left, right, facts)
}

/// How the bounds of BETWEEN are compared: both in one way, but for constants beside a date or time.
pub fn prepare_range(
    operand: &mut Expression,
    low: &mut Expression,
    high: &mut Expression,
    negated: bool,
    facts: BuildFacts,
) -> SqlResult<(ComparisonMode, ComparisonMode)> {
    use TypeClass::{DateTime, Decimal, Integer, Null, Text, Time};
    json::make_comparable(&mut [operand, low, high]);
    if !negated {
        refuse_beyond_latin1(operand, low, high)?;
    }
    adapt_stored(operand, low, facts)?;
    adapt_stored(operand, high, facts)?;
    widen_date(operand, low);
    widen_date(operand, high);
    // A range of one value is a comparison with it.
    let is_one = low.literal().is_some() && low.literal() == high.literal();
    if is_one && !negated && operand.column_slot().is_none() {
        adapt_text(operand, low, facts)?;
        adapt_text(operand, high, facts)?;
    }
    if [operand.result.class(), low.result.class(), high.result.class()] == [DateTime, Text, Text] {
        adapt_compared(operand, low, facts);
        adapt_compared(operand, high, facts);
    }
    let classes = [operand.result.class(), low.result.class(), high.result.class()];
    let all = |wanted: &[TypeClass]| classes.iter().all(|class| *class == Null || wanted.contains(class));
    let one = |mode| Ok((mode, mode));
    let (below, above) = (ComparisonMode::choose(operand, low), ComparisonMode::choose(operand, high));
    let is_text = |mode| matches!(mode, ComparisonMode::Text(_));
    let times = [below, above].iter().all(|mode| *mode == ComparisonMode::Time);
    if classes.contains(&DateTime) && all(&[DateTime, Time, Text]) {
        return one(ComparisonMode::DateTime);
    }
    let is_column = operand.column_slot().is_some()
        && (matches!(operand.result.class(), DateTime | Time | Integer) || classes == [Decimal, Text, Text]);
    if times && classes.contains(&Null) && operand.column_slot().is_none() {
        return one(ComparisonMode::Text(LATIN1));
    }
    if times || is_column && low.is_constant() && high.is_constant() {
        return Ok((below, above));
    }
    if all(&[Text, Time]) && (is_text(below) || is_text(above)) {
        return one(text_mode("between", &mut [operand, low, high], facts)?);
    }
    if all(&[Integer]) {
        return one(ComparisonMode::Integer);
    }
    if all(&[Integer, Decimal]) {
        for part in [operand, low, high] {
            ask_variable(part, &ResultType::longest_decimal());
        }
        return one(ComparisonMode::Decimal);
    }
    for part in [operand, low, high] {
        choose_numbers(part, &ResultType::double());
    }
    one(ComparisonMode::Double)
}

/// Error 3854 for constant text that latin1 lacks. MySQL asks whether both bounds of BETWEEN (not of NOT BETWEEN) are one value;
/// where neither is a number it compares them in the character set of the operand, which for a number or date is latin1.
fn refuse_beyond_latin1(operand: &Expression, low: &mut Expression, high: &mut Expression) -> SqlResult<()> {
    use TypeClass::{DateTime, Null, Text, Time};
    let is_number = !matches!(operand.result.class(), Null | Text) && operand.column_slot().is_none();
    let is_exact = !matches!(operand.result.class(), DateTime | Time);
    let bounds = [low, high];
    let is_bound = |bound: &Expression| {
        bound.is_constant() && matches!(bound.result.class(), Null | Text | DateTime | Time)
    };
    if !is_number || !bounds.iter().all(|bound| is_bound(bound)) {
        return Ok(());
    }
    let waits = |part: &Expression| {
        matches!(
            part.kind,
            ExpressionKind::Outer(_) | ExpressionKind::Subquery(_) | ExpressionKind::Parameter(_)
        )
    };
    for bound in bounds {
        let is_text =
            bound.result.class() == Text && bound.result.collation() != charset::CollationId::BINARY;
        match bound.literal() {
            Some(Value::Bytes(bytes)) if is_text => {
                crate::convert::text_of_set(bytes.clone(), bound.result.collation(), LATIN1)?;
            }
            _ if is_text && is_exact && bound.is_constant() && !bound.any(&waits) => {
                crate::derive::convert_to(bound, LATIN1)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// latin1_swedish_ci, the collation of numbers that nobody turned to text.
const LATIN1: charset::CollationId = charset::CollationId(8);

/// How the members of an IN list of several are compared with the operand.
pub fn prepare_list(
    operand: &mut Expression,
    list: &mut [Expression],
    facts: BuildFacts,
) -> SqlResult<Vec<ComparisonMode>> {
    use TypeClass::{Double, Null, Text, Time};
    if is_json(operand) || list.iter().any(is_json) {
        json::make_document(operand);
        list.iter_mut().for_each(json::make_document);
        return Ok(vec![ComparisonMode::Json; list.len()]);
    }
    let keeps_numbers = keeps_numbers(operand, list);
    if !adapt_listed(operand, list, facts, is_written) {
        adapt_stored_list(operand, list, keeps_numbers, facts)?;
        for member in &mut *list {
            widen_date(operand, member);
            adapt_compared(operand, member, facts);
        }
    }
    let all = |wanted: TypeClass| {
        let fits = |member: &Expression| [Null, wanted].contains(&member.result.class());
        list.iter().all(|member| fits(member) && member.is_constant())
    };
    // MySQL looks constants up in the operand's own type.
    if operand.result.class() == Time && (all(Text) || all(Time)) {
        return Ok(vec![ComparisonMode::Time; list.len()]);
    }
    if is_integer_lookup(operand, list) {
        convert_to_integers(list);
        return Ok(vec![ComparisonMode::Integer; list.len()]);
    }
    let choose = |operand: &Expression, list: &[Expression]| -> Vec<ComparisonMode> {
        let mode = |member: &Expression| match ComparisonMode::choose(operand, member) {
            // Exact numbers in a list are compared with texts as doubles.
            ComparisonMode::Decimal if matches!(member.result.class(), Text | Double) => {
                ComparisonMode::Double
            }
            mode => mode,
        };
        list.iter().map(mode).collect()
    };
    let mut modes = choose(operand, list);
    if keeps_numbers {
        compare_as_numbers(list, &mut modes);
    }
    choose_moments(operand, list, &mut modes, facts);
    if modes.iter().all(|mode| *mode == ComparisonMode::Double) {
        choose_numbers(operand, &ResultType::double());
    }
    for (member, mode) in list.iter_mut().zip(&modes) {
        if *mode == ComparisonMode::Double {
            choose_numbers(member, &ResultType::double());
        }
    }
    if modes.iter().any(|mode| matches!(mode, ComparisonMode::Text(_))) {
        let texts = list
            .iter_mut()
            .zip(&modes)
            .filter(|(_, mode)| matches!(mode, ComparisonMode::Text(_)))
            .map(|(member, _)| member);
        let mut operands: Vec<&mut Expression> = std::iter::once(&mut *operand).chain(texts).collect();
        let common = text_mode(" IN ", &mut operands, facts)?;
        for mode in &mut modes {
            if matches!(mode, ComparisonMode::Text(_)) {
                *mode = common;
            }
        }
    }
    Ok(modes)
}

/// Whether a list of constants beside a column of dates holds numbers and texts: then no number is taken for a date.
fn keeps_numbers(operand: &Expression, list: &[Expression]) -> bool {
    use TypeClass::{DateTime, Decimal, Double, Integer, Text};
    let is_number = |member: &Expression| matches!(member.result.class(), Integer | Decimal | Double);
    operand.result.class() == DateTime
        && operand.column_slot().is_some()
        && list.iter().all(Expression::is_constant)
        && list.iter().any(is_number)
        && list.iter().any(|member| member.result.class() == Text)
}

/// Compares the numbers of a list as such.
fn compare_as_numbers(list: &[Expression], modes: &mut [ComparisonMode]) {
    for (mode, member) in modes.iter_mut().zip(list) {
        match member.result.class() {
            TypeClass::Integer | TypeClass::Decimal => *mode = ComparisonMode::Decimal,
            TypeClass::Double => *mode = ComparisonMode::Double,
            _ => {}
        }
    }
}

/// Chooses how dates and texts of a list are compared: with a text, or with a year that is no column's.
fn choose_moments(
    operand: &Expression,
    list: &[Expression],
    modes: &mut [ComparisonMode],
    facts: BuildFacts,
) {
    use TypeClass::{DateTime, Null, Text, Time};
    let has = |class: TypeClass| list.iter().any(|member| member.result.class() == class);
    let numbers = list.iter().any(|member| !matches!(member.result.class(), Text | DateTime | Time | Null));
    if operand.result.class() == Text && has(DateTime) {
        let clocks = list
            .iter()
            .any(|member| member.result.class() == DateTime && member.result.kind() != TypeKind::Date);
        let clocks = clocks || has(Time);
        for (mode, member) in modes.iter_mut().zip(list) {
            *mode = match member.result.class() {
                // Beside a date with a time, and a date and a time, all texts are such. Beside numbers dates are texts.
                Text | Time if clocks && !numbers => ComparisonMode::DateTime,
                DateTime if numbers => ComparisonMode::Text(operand.result.collation()),
                // Among constants without a time they are looked up as dates.
                DateTime if !clocks && list.iter().all(Expression::is_constant) => ComparisonMode::Date,
                _ => *mode,
            };
        }
    } else if list.len() > 1 && !numbers && !has(DateTime) {
        // Texts and times are times.
        let mixed = match operand.result.class() {
            Text => has(Time),
            Time => has(Text),
            _ => false,
        };
        if mixed {
            modes.fill(ComparisonMode::Time);
        }
    }
    // A year among texts and dates is a text, that of a column among constant texts.
    let is_text = |member: &Expression| match operand.column_slot() {
        Some(_) => matches!(member.result.class(), Null | Text) && member.is_constant(),
        None => matches!(member.result.class(), Null | Text | DateTime),
    };
    if operand.result.kind() == TypeKind::Year && list.iter().all(is_text) {
        for (mode, _) in modes.iter_mut().zip(list).filter(|(_, member)| member.result.class() == Text) {
            *mode = ComparisonMode::Text(facts.connection);
        }
    }
}

/// Brings floating point members of a list to the integers that they are looked up as.
fn convert_to_integers(list: &mut [Expression]) {
    for member in list.iter_mut().filter(|member| member.result.class() == TypeClass::Double) {
        let result = ResultType::integer(21).nullable_if(member.result.nullable);
        let operand = std::mem::replace(member, Expression::null());
        let cast = Cast { operand, failure: CastFailure::Warn, column: None };
        *member = Expression { kind: ExpressionKind::Cast(Box::new(cast)), result };
    }
}

/// Whether an integer that is no column's stands before constants of which none is an exact number: they are looked up among
/// integers.
fn is_integer_lookup(operand: &Expression, list: &[Expression]) -> bool {
    use TypeClass::{DateTime, Double, Integer, Null, Text, Time};
    let fits = |member: &Expression| {
        matches!(member.result.class(), Null | Text | Double | DateTime | Time) && member.is_constant()
    };
    operand.result.class() == Integer
        && operand.result.kind() != TypeKind::Year
        && operand.column_slot().is_none()
        && list.iter().all(fits)
        && list.iter().any(|member| matches!(member.result.class(), Text | Double))
}

/// Turns a constant to the form of what stands beside it.
pub fn adapt_constant(beside: &Expression, constant: &mut Expression, facts: BuildFacts) -> SqlResult<()> {
    adapt_stored(beside, constant, facts)?;
    adapt_text(beside, constant, facts)
}

/// Turns constant text beside a date to a moment; error 1525 for what is none.
pub fn adapt_text(beside: &Expression, constant: &mut Expression, facts: BuildFacts) -> SqlResult<()> {
    if is_written(constant, facts)
        && constant.result.class() == TypeClass::Text
        && beside.result.class() == TypeClass::DateTime
    {
        adapt_moment(beside, constant, facts)?;
    }
    Ok(())
}

/// Error 1525 for a literal beside a date that is none, where it is to stay what it is.
pub fn check_moment(beside: &Expression, constant: &Expression, facts: BuildFacts) -> SqlResult<()> {
    let is_text = constant.result.class() == TypeClass::Text;
    if is_text && beside.result.class() == TypeClass::DateTime && is_written(constant, facts) {
        refuse_no_moment(beside, constant, facts)?;
    }
    Ok(())
}

/// Whether it is made of literals alone, or of what stands for them, and its text can be read as ASCII.
fn is_written(constant: &Expression, facts: BuildFacts) -> bool {
    let is_unknown = |part: &Expression| match part.kind {
        ExpressionKind::Parameter(_) => !facts.literal_parameters,
        ExpressionKind::Subquery(_) | ExpressionKind::Outer(_) | ExpressionKind::SystemVariable(..) => true,
        _ => false,
    };
    constant.is_constant()
        && !constant.any(&is_unknown)
        && (constant.result.class() != TypeClass::Text
            || text::is_ascii_superset(constant.result.collation()))
}

/// Text beside a date becomes a moment; error 1525 for what is none.
fn adapt_moment(beside: &Expression, constant: &mut Expression, facts: BuildFacts) -> SqlResult<()> {
    refuse_no_moment(beside, constant, facts)?;
    let result = ResultType::datetime(6).nullable_if(constant.result.nullable);
    let operand = std::mem::replace(constant, Expression::null());
    let failure = CastFailure::RefuseMoment(beside.result.kind());
    let cast = Cast { operand, failure, column: own_name(beside) };
    *constant = Expression { kind: ExpressionKind::Cast(Box::new(cast)), result };
    Ok(())
}

/// Constant text in a list, beside a moment that is no column's, is read as a moment.
fn adapt_compared(beside: &Expression, constant: &mut Expression, facts: BuildFacts) {
    let is_moment = matches!(beside.result.kind(), TypeKind::DateTime | TypeKind::Timestamp);
    let is_text = constant.result.class() == TypeClass::Text;
    if is_moment && is_text && beside.column_slot().is_none() && is_written(constant, facts) {
        let result = ResultType::datetime(6).nullable_if(constant.result.nullable);
        let operand = std::mem::replace(constant, Expression::null());
        let cast = Cast { operand, failure: CastFailure::ComparedMoment, column: None };
        *constant = Expression { kind: ExpressionKind::Cast(Box::new(cast)), result };
    }
}

/// Text that was given for a parameter that is a date is compared with its time.
fn widen_date(beside: &Expression, parameter: &mut Expression) {
    let is_date = parameter.result.kind() == TypeKind::Date && beside.result.class() == TypeClass::DateTime;
    let ExpressionKind::Cast(cast) = &mut parameter.kind else { return };
    let is_text = cast.operand.result.class() == TypeClass::Text;
    if is_date && is_text && cast.failure == CastFailure::Parameter {
        cast.failure = CastFailure::DateParameter;
        parameter.result = ResultType::datetime(6).nullable_if(parameter.result.nullable);
    }
}

fn refuse_no_moment(beside: &Expression, constant: &Expression, facts: BuildFacts) -> SqlResult<()> {
    let kind = beside.result.kind();
    let Some(Value::Bytes(bytes)) = constant.literal() else { return Ok(()) };
    let utf8 = text::to_utf8(bytes, constant.result.collation());
    match parse_date_time(utf8.as_bytes(), written_date_rules(facts.sql_mode)) {
        Some(_) => Ok(()),
        // MySQL warns before it refuses the text.
        None if facts.escalates => Err(wrong_text(kind, own_name(beside).as_deref(), &utf8)),
        None => Err(sql_error!(ER_WRONG_VALUE, kind.name().to_uppercase(), utf8)),
    }
}

fn adapt_stored_list(
    operand: &Expression,
    list: &mut [Expression],
    keeps_numbers: bool,
    facts: BuildFacts,
) -> SqlResult<()> {
    let is_moment = |member: &Expression| member.result.class() == TypeClass::DateTime;
    let is_stored = match operand.result.class() {
        // Nothing but moments beside a TIME are compared as moments of today.
        TypeClass::Time => list.len() == 1 || !list.iter().all(is_moment),
        TypeClass::DateTime => true,
        _ => false,
    };
    if !is_stored {
        return Ok(());
    }
    if list.len() == 1 {
        return list.iter_mut().try_for_each(|member| adapt_stored(operand, member, facts));
    }
    // Of several those that the column cannot hold are left to the comparison.
    let silent = BuildFacts { escalates: false, ..facts };
    if operand.result.class() != TypeClass::DateTime {
        return list.iter_mut().try_for_each(|member| adapt_stored(operand, member, silent));
    }
    let refuses =
        facts.escalates && operand.column_slot().is_some() && list.iter().all(Expression::is_constant);
    for member in list {
        if !keeps_numbers {
            adapt_stored(operand, member, silent)?;
        }
        if refuses && member.result.class() == TypeClass::Text && is_written(member, facts) {
            refuse_no_moment(operand, member, facts)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::SqlMode;
    use charset::CollationId;
    use values::ColumnType;

    fn facts() -> BuildFacts {
        BuildFacts {
            escalates: false,
            sql_mode: SqlMode::NO_ZERO_DATE,
            connection: CollationId::UTF8MB4_0900_AI_CI,
            division_precision_increment: 4,
            encryption_mode: functions::cipher::Mode::default(),
            time_names: functions::locale::english(),
            literal_parameters: true,
        }
    }

    fn column(kind: TypeKind) -> Expression {
        Expression::column(0, "c".into(), ColumnType::new(kind), true)
    }

    fn words(text: &str) -> Expression {
        Expression::text(text.as_bytes().to_vec(), facts().connection)
    }

    #[test]
    fn constants_take_the_form_of_the_column_beside_them() {
        let year = |mut constant: Expression| {
            prepare_pair("=", &mut column(TypeKind::Year), &mut constant, facts()).unwrap();
            constant.literal().cloned()
        };
        assert_eq!(year(Expression::integer(1)), Some(Value::Int(2001)));
        assert_eq!(year(Expression::integer(100)), Some(Value::Int(100)));
        assert_eq!(year(words("70")), Some(Value::Bytes(b"1970".to_vec())));
        let date = |text: &str| {
            prepare_pair("<", &mut words(text), &mut column(TypeKind::Date), facts()).map_err(|e| e.number())
        };
        assert_eq!(date("2024-01-02"), Ok(ComparisonMode::DateTime));
        assert_eq!(date(""), Err(1525));
        assert_eq!(date("0000-00-00"), Err(1525));
    }

    #[test]
    fn lists_are_compared_as_a_whole() {
        let range = |mut operand: Expression, mut low: Expression, mut high: Expression| {
            prepare_range(&mut operand, &mut low, &mut high, false, facts()).unwrap()
        };
        let double = (ComparisonMode::Double, ComparisonMode::Double);
        assert_eq!(range(words("10"), words("9"), Expression::integer(11)), double);
        let bytes = Expression::text(b"A".to_vec(), CollationId::BINARY);
        let mut list = [words("f"), bytes];
        let modes = prepare_list(&mut words("F"), &mut list, facts()).unwrap();
        assert_eq!(modes, vec![ComparisonMode::Text(CollationId::BINARY); 2]);
    }

    #[test]
    fn text_that_a_set_lacks_is_refused() {
        let latin1 = Expression::column(0, "l".into(), ColumnType::varchar(9, CollationId(8)), true);
        let refused = prepare_pair("=", &mut latin1.clone(), &mut words("\u{3042}"), facts());
        assert_eq!(refused.map_err(|error| error.number()), Err(3854));
        assert!(prepare_pair("=", &mut latin1.clone(), &mut words("\u{e9}"), facts()).is_ok());
    }
}
