//! Functions about accounts and roles: CURRENT_USER_IN, CURRENT_ROLE_IN, ROLES_GRAPHML, VALIDATE_PASSWORD_STRENGTH, PS_THREAD_ID.

use super::string::ANY_LENGTH_CHARACTERS;
use super::{Call, Derivation, FunctionDefinition, acting};
use charset::CollationId;
use errors::SqlResult;
use expression::context::RoleGraph;
use expression::result_type::{Coercibility, ResultType, TypeClass};
use functions::accounts::{self, AccountText};
use std::fmt::Write as _;
use values::Value;

/// The family's functions.
pub static FUNCTIONS: &[FunctionDefinition] = &[
    acting("current_user_in", 1, 1, derive_truth, current_user_in),
    acting("current_role_in", 1, 1, derive_truth, current_role_in),
    acting("roles_graphml", 0, 0, |_| Ok(derive_graph()), roles_graphml),
    acting("validate_password_strength", 1, 1, |_| Ok(ResultType::integer(10).nullable()), password_strength),
    acting("ps_thread_id", 1, 1, |_| Ok(ResultType::unsigned(21).nullable()), thread_id),
];

fn derive_truth(derivation: &mut Derivation<'_>) -> SqlResult<ResultType> {
    Ok(ResultType::boolean().nullable_if(derivation.any_nullable()))
}

/// Whether a list of accounts names one of those.
fn lists(call: &mut Call<'_>, accounts: &[AccountText]) -> SqlResult<Value> {
    let Some(list) = call.utf8(0)? else { return Ok(Value::Null) };
    let interrupt = call.interrupt();
    let mut found = false;
    accounts::for_each(&list, interrupt, |listed| found |= accounts.contains(&listed))?;
    Ok(Value::Int(i64::from(found)))
}

fn current_user_in(call: &mut Call<'_>) -> SqlResult<Value> {
    let current = AccountText::of_current(&call.context().facts().current_user);
    lists(call, &[current])
}

fn current_role_in(call: &mut Call<'_>) -> SqlResult<Value> {
    let active = call.context().session().current_role();
    let mut roles = Vec::new();
    // Without quotes it says that there are none.
    if active.starts_with('`') {
        accounts::for_each(&active, call.interrupt(), |role| roles.push(role))?;
    }
    lists(call, &roles)
}

fn derive_graph() -> ResultType {
    ResultType::text(ANY_LENGTH_CHARACTERS, CollationId::UTF8MB3_GENERAL_CI, Coercibility::SystemConstant)
        .nullable()
}

fn roles_graphml(call: &mut Call<'_>) -> SqlResult<Value> {
    let graph = call.context().session().role_graph();
    let text = graph.map_or_else(|| format!("{XML}<graphml />"), |graph| graphml(&graph));
    Ok(call.text_result(&text))
}

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// The graph as GraphML: a node for each account, an edge for each grant of a role.
fn graphml(graph: &RoleGraph) -> String {
    const SPACE: &str = "http://graphml.graphdrawing.org/xmlns";
    let mut out = format!(
        "{XML}\n<graphml xmlns=\"{SPACE}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"{SPACE} {SPACE}/1.0/graphml.xsd\">\n  \
         <key id=\"key0\" for=\"edge\" attr.name=\"color\" attr.type=\"int\" />\n  \
         <key id=\"key1\" for=\"node\" attr.name=\"name\" attr.type=\"string\" />\n  \
         <graph id=\"G\" edgedefault=\"directed\" parse.nodeids=\"canonical\" parse.edgeids=\"canonical\" \
         parse.order=\"nodesfirst\">\n"
    );
    for (index, account) in graph.accounts.iter().enumerate() {
        let name = account.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let name = name.replace('"', "&quot;").replace('\'', "&apos;");
        out.push_str(&format!(
            "    <node id=\"n{index}\">\n      <data key=\"key1\">{name}</data>\n    </node>\n"
        ));
    }
    for (index, (holder, role, admin)) in graph.grants.iter().enumerate() {
        let written = write!(
            out,
            "    <edge id=\"e{index}\" source=\"n{holder}\" target=\"n{role}\">\n      <data key=\"key0\">{}</data>\n    </edge>\n",
            i32::from(*admin)
        );
        debug_assert!(written.is_ok());
    }
    out.push_str("  </graph>\n</graphml>\n");
    out
}

/// What MySQL answers without the component `validate_password`.
fn password_strength(call: &mut Call<'_>) -> SqlResult<Value> {
    Ok(call.text(0)?.map_or(Value::Null, |_| Value::Int(0)))
}

/// A connection's thread has the connection's number here. What is no integer is no number of a connection, whatever its value.
fn thread_id(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(id) = call.unsigned(0)? else { return Ok(Value::Null) };
    let is_known =
        call.argument(0).class() == TypeClass::Integer && call.context().session().is_connected(id);
    Ok(if is_known { Value::UInt(id) } else { Value::Null })
}
