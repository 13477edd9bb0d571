//! Functions that measure and search: LENGTH, CHAR_LENGTH, LOCATE, INSTR, FIELD, FIND_IN_SET, STRCMP.

use crate::{Call, Derivation, FunctionDefinition, of_documents, pure};
use charset::CollationId;
use errors::SqlResult;
use expression::context::waiting_bytes;
use expression::json;
use expression::operators::{ComparisonMode, check_moment, compare_values};
use expression::result_type::{ResultType, TypeClass};
use functions::string::search;
use std::cmp::Ordering;
use values::{TypeKind, Value, ValueRef};

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("length", 1, 1, derive_length, |call| measure(call, |text, _| text.len())),
    pure("octet_length", 1, 1, derive_length, |call| measure(call, |text, _| text.len())),
    pure("bit_length", 1, 1, derive_length, |call| measure(call, |text, _| text.len() * 8)),
    pure("char_length", 1, 1, derive_length, character_length),
    pure("character_length", 1, 1, derive_length, character_length),
    pure("locate", 2, 3, |derivation| derive_search(derivation, 1), |call| locate(call, 0, 1)),
    pure("position", 2, 2, |derivation| derive_search(derivation, 1), |call| locate(call, 0, 1)),
    pure("instr", 2, 2, |derivation| derive_search(derivation, 0), |call| locate(call, 1, 0)),
    of_documents("field", 2, usize::MAX, derive_field, field),
    pure("find_in_set", 2, 2, derive_find_in_set, find_in_set),
    pure("strcmp", 2, 2, derive_strcmp, compare),
];

fn derive_length(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::integer(11).nullable_if(derivation.any_nullable()))
}

fn measure(call: &mut Call<'_>, size: fn(&[u8], CollationId) -> usize) -> SqlResult<Value> {
    let collation = call.text_collation(0);
    Ok(call.text(0)?.map_or(Value::Null, |text| Value::Int(size(&text, collation) as i64)))
}

fn character_length(call: &mut Call<'_>) -> SqlResult<Value> {
    measure(call, |text, collation| collation.charset().character_count(text))
}

/// Searches are in the collation of the text that is searched, whatever is searched for: this must be text of its
/// character set. `text` is the argument that is searched.
fn derive_search(derivation: &mut Derivation<'_>, text: usize) -> SqlResult<ResultType> {
    let (searched, wanted) = (derivation.argument(text), derivation.argument(1 - text));
    let is_bytes = wanted.class() == TypeClass::Text && wanted.collation() == CollationId::BINARY;
    if searched.class() == TypeClass::Text || is_bytes {
        derivation.arguments.swap(0, text);
        let searched = derivation.first_collation(&[1]);
        derivation.arguments.swap(0, text);
        searched?;
    } else {
        derivation.collation(0..2)?;
    }
    Ok(ResultType::integer(11).nullable_if(derivation.any_nullable()))
}

fn derive_find_in_set(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    derivation.comparison_collation(0..2)?;
    Ok(ResultType::integer(11).nullable_if(derivation.any_nullable()))
}

/// The collation in which two arguments are compared.
pub(crate) fn common_collation(call: &Call<'_>) -> CollationId {
    if let ComparisonMode::Text(collation) = ComparisonMode::choose(call.expression(0), call.expression(1)) {
        return collation;
    }
    let first_is_text = call.argument(0).class() == TypeClass::Text;
    call.text_collation(usize::from(!first_is_text))
}

/// What the search for a text takes for each of its characters; twice that while its buffers grow.
const SEARCH_BYTES: usize = 13;

fn locate(call: &mut Call<'_>, needle: usize, haystack: usize) -> SqlResult<Value> {
    let collation = match call.argument(haystack).class() {
        TypeClass::Text => call.text_collation(haystack),
        _ => common_collation(call),
    };
    let (Some(needle), Some(text)) = (call.text(needle)?, call.text(haystack)?) else {
        return Ok(Value::Null);
    };
    let mut start = 0;
    if call.count() > 2 {
        match call.integer(2)? {
            None => return Ok(Value::Null),
            Some(position) if position < 1 => return Ok(Value::Int(0)),
            Some(position) => start = usize::try_from(position - 1).unwrap_or(usize::MAX),
        }
    }
    call.wait_for(needle.len() * SEARCH_BYTES)?;
    Ok(Value::Int(search::locate(&needle, &text, start, collation, call.interrupt())?))
}

fn derive_field(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    use TypeClass::{DateTime, Text, Time};
    json::make_comparable(&mut Vec::from_iter(&mut *derivation.arguments));
    let classes = || derivation.arguments.iter().map(|argument| argument.result.class());
    if classes().all(|class| class == Text) {
        let bytes_first = derivation.argument(0).collation() == CollationId::BINARY;
        if !bytes_first {
            let others: Vec<usize> = (1..derivation.count()).collect();
            derivation.first_collation(&others)?;
        }
        derivation.collation(0..derivation.count())?;
    } else if classes().all(|class| matches!(class, Text | DateTime | Time)) {
        let others: Vec<usize> = (1..derivation.count()).collect();
        derivation.first_collation(&others)?;
    }
    Ok(ResultType::integer(11))
}

/// FIELD compares as text if all arguments are text, as integers if all are, otherwise as numbers.
fn field(call: &mut Call<'_>) -> SqlResult<Value> {
    let count = call.count();
    let all = |call: &Call<'_>, class| {
        (0..count).all(|index| [class, TypeClass::Null].contains(&call.argument(index).class()))
    };
    if all(call, TypeClass::Text) {
        let wanted = call.operand(0)?;
        for index in 1..count {
            let mode = ComparisonMode::choose(call.expression(0), call.expression(index));
            let other = call.operand(index)?;
            let (left, right) = (&call.argument(0).column_type, &call.argument(index).column_type);
            if compare_values(mode, wanted.as_ref(), left, other.as_ref(), right, call.context())?
                == Some(Ordering::Equal)
            {
                return Ok(Value::Int(index as i64));
            }
            call.hold_only(waiting_bytes(&wanted))?;
        }
    } else if all(call, TypeClass::Integer) {
        let wanted = call.wide_integer(0)?;
        for index in 1..count {
            if wanted.is_some() && call.wide_integer(index)? == wanted {
                return Ok(Value::Int(index as i64));
            }
        }
    } else if let Some(wanted) = call.double(0)? {
        for index in 1..count {
            if call.double(index)? == Some(wanted) {
                return Ok(Value::Int(index as i64));
            }
        }
    }
    Ok(Value::Int(0))
}

/// A constant is looked up among the members of a SET, of which the value holds some; in text by its place there.
fn find_in_set(call: &mut Call<'_>) -> SqlResult<Value> {
    if call.argument(1).kind() == TypeKind::Set && call.expression(0).is_constant() {
        return find_member(call);
    }
    let collation = common_collation(call).get();
    let (Some(wanted), Some(list)) = (call.text(0)?, call.text(1)?) else { return Ok(Value::Null) };
    Ok(Value::Int(search::find_in_set(&wanted, &list, collation, call.interrupt())?))
}

/// The place of a member in the type of a SET, 0 if the value does not hold it.
fn find_member(call: &mut Call<'_>) -> SqlResult<Value> {
    let collation = common_collation(call).get();
    let (Some(wanted), ValueRef::UInt(held)) = (call.text(0)?, call.operand(1)?.as_ref()) else {
        return Ok(Value::Null);
    };
    let members = &call.argument(1).column_type.members;
    let place = members.iter().position(|member| collation.equal(member, &wanted));
    Ok(Value::Int(place.filter(|place| held >> place & 1 == 1).map_or(0, |place| place as i64 + 1)))
}

fn derive_strcmp(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    let facts = derivation.facts;
    // A literal beside a date is to be one, though both are compared as texts.
    if let [left, right] = &*derivation.arguments {
        check_moment(left, right, facts)?;
        check_moment(right, left, facts)?;
    }
    derivation.comparison_collation(0..2)?;
    Ok(ResultType::integer(2).nullable_if(derivation.any_nullable()))
}

fn compare(call: &mut Call<'_>) -> SqlResult<Value> {
    // What is no text is ASCII.
    let has_text = (0..2).any(|index| call.argument(index).class() == TypeClass::Text);
    let has_bits = (0..2).any(|index| call.argument(index).kind() == TypeKind::Bit);
    let collation = if has_text && !has_bits { common_collation(call) } else { CollationId::BINARY }.get();
    let (Some(left), Some(right)) = (call.text(0)?, call.text(1)?) else { return Ok(Value::Null) };
    Ok(Value::Int(collation.compare(&left, &right) as i64))
}
