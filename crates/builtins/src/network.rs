//! Network addresses: INET_ATON, INET_NTOA, INET6_ATON, INET6_NTOA and the predicates IS_IPV4, IS_IPV6 and their kin.

use super::{Call, Derivation, FunctionDefinition, pure};
use errors::{SqlResult, sql_error};
use expression::result_type::{ResultType, TypeClass};
use functions::network::{
    is_ipv4_compatible, is_ipv4_mapped, parse_ipv4, parse_ipv6, parse_number_groups, print_ipv4, print_ipv6,
};
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    pure("inet_aton", 1, 1, |_| Ok(ResultType::unsigned(21).nullable()), inet_aton),
    pure("inet_ntoa", 1, 1, |derivation| Ok(derivation.connection_text(31).nullable()), inet_ntoa),
    pure("inet6_aton", 1, 1, |_| Ok(ResultType::binary(16).nullable()), inet6_aton),
    pure("inet6_ntoa", 1, 1, |derivation| Ok(derivation.connection_text(39).nullable()), inet6_ntoa),
    pure("is_ipv4", 1, 1, derive_predicate, |call| text_predicate(call, |text| parse_ipv4(text).is_some())),
    pure("is_ipv6", 1, 1, derive_predicate, |call| text_predicate(call, |text| parse_ipv6(text).is_some())),
    pure("is_ipv4_compat", 1, 1, derive_predicate, |call| bytes_predicate(call, is_ipv4_compatible)),
    pure("is_ipv4_mapped", 1, 1, derive_predicate, |call| bytes_predicate(call, is_ipv4_mapped)),
];

fn derive_predicate(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::boolean().nullable_if(derivation.any_nullable()))
}

/// NULL with the warning that names the argument as it was written.
fn wrong_value(call: &mut Call<'_>, kind: &str) -> Value {
    let shown = call.expression(0).to_string();
    let name = call.name();
    call.warn(sql_error!(ER_WRONG_VALUE_FOR_TYPE, kind, shown, name));
    Value::Null
}

fn inet_aton(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    match parse_number_groups(&text) {
        Some(number) => Ok(Value::UInt(number)),
        None => Ok(wrong_value(call, "string")),
    }
}

fn inet_ntoa(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(number) = call.wide_integer(0)? else { return Ok(Value::Null) };
    let Ok(number) = u32::try_from(number) else { return Ok(wrong_value(call, "integer")) };
    Ok(call.text_result(&print_ipv4(number.to_be_bytes())))
}

fn inet6_aton(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(text) = call.utf8(0)? else { return Ok(Value::Null) };
    if let Some(bytes) = parse_ipv4(&text) {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    match parse_ipv6(&text) {
        Some(bytes) => Ok(Value::Bytes(bytes.to_vec())),
        None => Ok(wrong_value(call, "string")),
    }
}

fn inet6_ntoa(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(bytes) = call.text(0)? else { return Ok(Value::Null) };
    let is_binary = call.text_collation(0) == charset::CollationId::BINARY;
    if is_binary {
        if let Ok(bytes) = <[u8; 4]>::try_from(&*bytes) {
            return Ok(call.text_result(&print_ipv4(bytes)));
        }
        if let Ok(bytes) = <[u8; 16]>::try_from(&*bytes) {
            return Ok(call.text_result(&print_ipv6(&bytes)));
        }
    }
    Ok(wrong_value(call, "string"))
}

/// A number is no address, not even NULL.
fn is_number(call: &Call<'_>) -> bool {
    matches!(call.argument(0).class(), TypeClass::Integer | TypeClass::Decimal | TypeClass::Double)
}

fn text_predicate(call: &mut Call<'_>, test: fn(&str) -> bool) -> SqlResult<Value> {
    if is_number(call) {
        return Ok(Value::Int(0));
    }
    Ok(call.utf8(0)?.map_or(Value::Null, |text| Value::Int(i64::from(test(&text)))))
}

fn bytes_predicate(call: &mut Call<'_>, test: fn(&[u8; 16]) -> bool) -> SqlResult<Value> {
    if is_number(call) {
        return Ok(Value::Int(0));
    }
    let Some(bytes) = call.text(0)? else { return Ok(Value::Null) };
    let found = <&[u8; 16]>::try_from(&*bytes).is_ok_and(test);
    Ok(Value::Int(i64::from(found)))
}
