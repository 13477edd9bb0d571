//! The parts of a query whose values follow from the clock alone: a result that depends on these is right again whenever they are what they
//! were. Main function: [`clock_calls`]; who walks a query is `tables_used.rs`.

use builtins::{Reads, reads_of};
use parser::ast::{Child, Expression};

/// The largest expressions of a query that read the clock, and otherwise constants and settings only.
#[derive(Debug, Default)]
pub struct ClockParts<'s> {
    /// These expressions.
    pub expressions: Vec<&'s Expression>,
    /// How many functions in them read the clock.
    pub calls: usize,
}

/// How many functions within an expression read the clock. None if it reads anything else but constants and settings.
pub(crate) fn clock_calls(expression: &Expression) -> Option<usize> {
    use Expression as E;
    let own = match expression {
        E::Column(_)
        | E::Parameter(_)
        | E::UserVariable(_)
        | E::SystemVariable(_)
        | E::AssignVariable { .. }
        | E::Default(_)
        | E::Values(_)
        | E::Match { .. }
        | E::Grouping(_)
        | E::Row(_)
        | E::Aggregate(_)
        | E::WindowFunction(_) => return None,
        E::Function(call) if call.schema.is_some() => return None,
        E::Function(call) => match reads_of(&call.name.to_ascii_lowercase(), call.arguments.len()) {
            Reads::Nothing | Reads::Settings => 0,
            Reads::Clock => 1,
            Reads::Anything => return None,
        },
        _ => 0,
    };
    let mut calls = Some(own);
    expression.each_child(&mut |child| {
        let of_child = match child {
            Child::Expression(part) if calls.is_some() => clock_calls(part),
            _ => None,
        };
        calls = calls.zip(of_child).map(|(calls, more)| calls + more);
    });
    calls
}
