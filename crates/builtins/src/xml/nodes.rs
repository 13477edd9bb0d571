//! Lists of nodes as values, and what an XPath does with them: functions that no name leads to from SQL. They share the site, and with it
//! the state, of the call whose path they are a part of.

use super::{Call, FunctionDefinition, Work, work};
use charset::CollationId;
use errors::SqlResult;
use expression::builtin::inner;
use expression::result_type::{Coercibility, ResultType};
use expression::{Expression, ExpressionKind};
use functions::xml::axes::{self, Axis};
use functions::xml::{Document, Kind, Place};
use std::rc::Rc;
use values::{RowRef, Value};

/// The nodes that a value stands for: eight bytes each, its number and its position.
pub fn places(value: &Value) -> impl Iterator<Item = Place> + '_ {
    let bytes = if let Value::Bytes(bytes) = value { bytes.as_slice() } else { &[] };
    bytes.chunks_exact(8).map(|pair| {
        let half = |half: &[u8]| half.try_into().map_or(0, u32::from_le_bytes);
        Place { node: half(&pair[..4]), position: half(&pair[4..]) }
    })
}

fn list(places: &[Place]) -> Value {
    let pairs = places.iter().flat_map(|place| [place.node.to_le_bytes(), place.position.to_le_bytes()]);
    Value::Bytes(pairs.flatten().collect())
}

/// Builds calls of one path.
pub struct Builder {
    /// The site of the call that the path is for.
    pub site: usize,
    /// The collation of the document's texts.
    pub collation: CollationId,
}

impl Builder {
    fn call(
        &self,
        definition: &'static FunctionDefinition,
        arguments: Vec<Expression>,
        result: ResultType,
    ) -> Expression {
        Expression::inner_call(definition, arguments, self.site, result)
    }

    fn nodes(&self, definition: &'static FunctionDefinition, arguments: Vec<Expression>) -> Expression {
        self.call(definition, arguments, ResultType::binary(u32::MAX))
    }

    fn text_type(&self) -> ResultType {
        let characters = u32::MAX / u32::from(self.collation.charset().max_bytes);
        ResultType::text(characters, self.collation, Coercibility::Implicit)
    }

    /// A literal text.
    pub fn literal(&self, text: &[u8]) -> Expression {
        Expression::text(text.to_vec(), self.collation)
    }

    /// The document.
    pub fn root(&self) -> Expression {
        self.nodes(&ROOT, Vec::new())
    }

    /// The node that a predicate is asked for.
    pub fn context(&self) -> Expression {
        self.nodes(&CONTEXT, Vec::new())
    }

    /// A step.
    pub fn step(&self, from: Expression, axis: Axis, name: &[u8]) -> Expression {
        let number = Axis::ALL.iter().position(|known| *known == axis).unwrap_or(0);
        self.nodes(&STEP, vec![from, Expression::integer(number as u64), self.literal(name)])
    }

    /// The nodes at the position that an expression gives for each of them.
    pub fn at_position(&self, from: Expression, index: Expression) -> Expression {
        self.nodes(&AT_POSITION, vec![from, index])
    }

    /// The nodes for which a condition holds.
    pub fn filter(&self, from: Expression, condition: Expression) -> Expression {
        self.nodes(&FILTER, vec![from, condition])
    }

    /// The nodes of two lists.
    pub fn union(&self, left: Expression, right: Expression) -> Expression {
        self.nodes(&UNION, vec![left, right])
    }

    /// The text of a list.
    pub fn text(&self, nodes: Expression) -> Expression {
        self.call(&TEXT, vec![nodes], self.text_type())
    }

    /// Whether a list has exactly one node, which is what MySQL takes for its truth.
    pub fn is_one(&self, nodes: Expression) -> Expression {
        self.call(&IS_ONE, vec![nodes], ResultType::boolean())
    }

    /// How many nodes there are.
    pub fn count(&self, nodes: Expression) -> Expression {
        self.call(&COUNT, vec![nodes], ResultType::integer(10))
    }

    /// The sum of the numbers that texts of nodes begin with.
    pub fn sum(&self, nodes: Expression) -> Expression {
        self.call(&SUM, vec![nodes], ResultType::double())
    }

    /// The text that [`Builder::any_text`] compares.
    pub fn compared_text(&self) -> Expression {
        self.call(&COMPARED_TEXT, Vec::new(), self.text_type())
    }

    /// Whether a comparison holds for any text of the nodes.
    pub fn any_text(&self, nodes: Expression, comparison: Expression) -> Expression {
        self.call(&ANY_TEXT, vec![nodes, comparison], ResultType::boolean())
    }

    /// The position, from 1, of the node that a predicate is asked for.
    pub fn position(&self) -> Expression {
        self.call(&POSITION, Vec::new(), ResultType::integer(10))
    }

    /// How many nodes a predicate is asked for.
    pub fn last(&self) -> Expression {
        self.call(&LAST, Vec::new(), ResultType::integer(10))
    }

    /// An expression as a floating point number.
    pub fn number(&self, operand: Expression) -> Expression {
        let nullable = operand.result.nullable;
        self.call(&NUMBER, vec![operand], ResultType::double().nullable_if(nullable))
    }

    /// Whether an expression is a number other than zero.
    pub fn truth(&self, operand: Expression) -> Expression {
        let nullable = operand.result.nullable;
        self.call(&TRUTH, vec![operand], ResultType::boolean().nullable_if(nullable))
    }

    /// A user variable of that type.
    pub fn variable(&self, name: &str, result: ResultType) -> Expression {
        Expression { kind: ExpressionKind::UserVariable(name.into()), result }
    }
}

static ROOT: FunctionDefinition = inner("xpath root", 0, |_| Ok(list(&[Place { node: 0, position: 0 }])));
static CONTEXT: FunctionDefinition = inner("xpath context", 0, |call| {
    let context = work(call).and_then(|work| work.context);
    Ok(list(context.map(|(place, _)| Place { position: 0, ..place }).as_slice()))
});
static STEP: FunctionDefinition = inner("xpath step", 3, step);
static AT_POSITION: FunctionDefinition = inner("xpath at position", 2, |call| {
    filtered(call, |call, place| {
        Ok(call.integer(1)?.is_some_and(|index| index == i64::from(place.position) + 1))
    })
});
static FILTER: FunctionDefinition =
    inner("xpath filter", 2, |call| filtered(call, |call, _| Ok(call.truth(1)? == Some(true))));
static UNION: FunctionDefinition = inner("xpath union", 2, union);
static TEXT: FunctionDefinition = inner("xpath text", 1, text);
static IS_ONE: FunctionDefinition = inner("xpath one", 1, |call| {
    let nodes = call.value(0)?;
    Ok(Value::Int(i64::from(places(&nodes).take(2).count() == 1)))
});
static COUNT: FunctionDefinition = inner("xpath count", 1, |call| {
    let nodes = call.value(0)?;
    Ok(Value::Int(places(&nodes).count() as i64))
});
static SUM: FunctionDefinition = inner("xpath sum", 1, sum);
static COMPARED_TEXT: FunctionDefinition = inner("xpath compared text", 0, |call| {
    let text = work(call).map(|work| {
        let (start, end) = work.compared;
        work.document.text_between(start, end).to_vec()
    });
    Ok(Value::Bytes(text.unwrap_or_default()))
});
static ANY_TEXT: FunctionDefinition = inner("xpath any text", 2, any_text);
static POSITION: FunctionDefinition = inner("xpath position", 0, |call| {
    let context = work(call).and_then(|work| work.context);
    Ok(Value::Int(context.map_or(0, |(place, _)| i64::from(place.position) + 1)))
});
static LAST: FunctionDefinition = inner("xpath last", 0, |call| {
    let context = work(call).and_then(|work| work.context);
    Ok(Value::Int(context.map_or(0, |(_, count)| i64::from(count))))
});
static NUMBER: FunctionDefinition =
    inner("xpath number", 1, |call| Ok(call.double(0)?.map_or(Value::Null, Value::Double)));
static TRUTH: FunctionDefinition = inner("xpath boolean", 1, |call| {
    Ok(call.double(0)?.map_or(Value::Null, |number| Value::Int(i64::from(number != 0.0))))
});

fn document(call: &mut Call<'_>) -> Option<Rc<Document>> {
    work(call).map(|work| Rc::clone(&work.document))
}

fn step(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = document(call) else { return Ok(Value::Null) };
    let from = call.value(0)?;
    let from: Vec<Place> = places(&from).collect();
    let axis = call.integer(1)?.and_then(|axis| Axis::ALL.get(axis as usize).copied());
    let name = call.text(2)?.unwrap_or_default();
    let mut held = 0;
    let mut hold = |bytes: usize| {
        call.context().check_killed()?;
        call.wait_for(bytes.saturating_sub(held))?;
        held = held.max(bytes);
        Ok(())
    };
    let found = axes::step(&document, &from, (axis.unwrap_or(Axis::Child), &name), &mut hold)?;
    Ok(list(&found))
}

fn union(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = document(call) else { return Ok(Value::Null) };
    let (left, right) = (call.value(0)?, call.value(1)?);
    let (left, right): (Vec<Place>, Vec<Place>) = (places(&left).collect(), places(&right).collect());
    Ok(list(&axes::union(&document, &left, &right)))
}

/// The nodes that stay, at new positions.
fn filtered(
    call: &mut Call<'_>,
    mut stays: impl FnMut(&mut Call<'_>, Place) -> SqlResult<bool>,
) -> SqlResult<Value> {
    let nodes = call.value(0)?;
    let count = places(&nodes).count() as u32;
    let before = work(call).and_then(|work| work.context);
    let mut kept = Vec::new();
    for place in places(&nodes) {
        call.context().check_killed()?;
        set_context(call, Some((place, count)));
        if stays(call, place)? {
            kept.push(Place { node: place.node, position: kept.len() as u32 });
        }
    }
    set_context(call, before);
    Ok(list(&kept))
}

fn set_context(call: &mut Call<'_>, context: Option<(Place, u32)>) {
    if let Some(work) = work(call) {
        work.context = context;
    }
}

fn text(call: &mut Call<'_>) -> SqlResult<Value> {
    let Some(document) = document(call) else { return Ok(Value::Null) };
    let nodes = call.value(0)?;
    let text = document.joined_text(places(&nodes).map(|place| place.node), call.interrupt())?;
    call.wait_for(text.len())?;
    Ok(Value::Bytes(text))
}

/// Calls `work` with each text that is directly in one of the nodes, until it says that this is enough.
fn each_text(
    call: &mut Call<'_>,
    mut work: impl FnMut(&mut Call<'_>, &Document, u32) -> SqlResult<bool>,
) -> SqlResult<bool> {
    let Some(document) = document(call) else { return Ok(false) };
    let nodes = call.value(0)?;
    for place in places(&nodes) {
        call.context().check_killed()?;
        for child in document.children(place.node) {
            if document.node(child).kind == Kind::Text && work(call, &document, child)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn sum(call: &mut Call<'_>) -> SqlResult<Value> {
    let mut sum = 0.0;
    each_text(call, |_, document, child| {
        let text = document.text_of(document.node(child));
        sum += values::number::parse_f64(text).number;
        Ok(false)
    })?;
    Ok(Value::Double(sum))
}

fn any_text(call: &mut Call<'_>) -> SqlResult<Value> {
    let comparison = call.expression(1);
    let found = each_text(call, |call, document, child| {
        let node = document.node(child);
        if let Some(work) = work(call) {
            let work: &mut Work = work;
            work.compared = (node.start, node.end);
        }
        Ok(comparison.truth(RowRef::EMPTY, call.context())? == Some(true))
    })?;
    Ok(Value::Int(i64::from(found)))
}
