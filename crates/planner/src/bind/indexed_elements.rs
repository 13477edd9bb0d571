//! Conditions over documents whose elements a multi-valued index has: `constant MEMBER OF (document)`, JSON_CONTAINS(document, constant)
//! and JSON_OVERLAPS of both become questions for elements of the index's hidden column, as in MySQL: what is found is what the
//! array of the index holds, also where that has converted an element. Main function: [`read_indexed_elements`].

use super::Binder;
use super::indexed_values::bound_in_table;
use super::stored_text::parse_stored;
use ::expression::builtin::MEMBER_OF;
use ::expression::{
    DocumentWatch, EvaluationContext, Expression, ExpressionKind, FunctionCall, ResultType, TypeClass,
};
use dictionary::{ColumnDefinition, TableDefinition};
use errors::{Diagnostics, SqlResult};
use optimizer::{JoinTree, LogicalSelect, Source, conjuncts};
use parser::ast;
use plan::MultiValuedPart;
use plan::json_table::store_mode;
use rewrite::IndexedValue;
use std::sync::Arc;
use values::json::{Node, element_value};
use values::{RowRef, Value};

/// More elements of a constant are not looked for one by one.
const ELEMENTS_MAX: usize = 1000;
/// Nobody reads them.
const CONDITIONS_MAX: usize = 1;

/// Puts questions for elements in the places of conditions over documents, but for documents of the tables `made_up`, which are bits.
pub(crate) fn read_indexed_elements(binder: &mut Binder<'_>, select: &mut LogicalSelect, made_up: u64) {
    for number in 0..binder.block().tables.len() {
        let Source::Base(table) = &binder.block().tables[number].source else { continue };
        let definition = table.definition();
        if made_up >> number & 1 == 1
            || definition.columns.iter().all(|column| column.element_type().is_none())
        {
            continue;
        }
        let table = Arc::clone(table);
        for place in usable_arrays(binder, number, table.definition()) {
            let Some(array) = IndexedArray::of(binder, number, table.definition(), place) else { continue };
            let mut is_asked = false;
            let mut replace = |call: &FunctionCall| {
                let asked = array.asked(binder, call);
                is_asked |= asked.is_some();
                asked
            };
            select.conditions.iter_mut().for_each(|condition| replace_calls(condition, &mut replace));
            if let Some(tree) = &mut select.tree {
                tree.for_each_condition(&mut |condition| replace_calls(condition, &mut replace));
            }
            if is_asked {
                // JSON_CONTAINS has become an AND.
                let conditions = std::mem::take(&mut select.conditions);
                select.conditions = conditions.into_iter().flat_map(conjuncts).collect();
                select.tree.iter_mut().for_each(JoinTree::split_conditions);
            }
        }
    }
}

/// Whether a condition asks for elements of a document: few statements are looked at further.
pub(crate) fn asks_documents(select: &LogicalSelect) -> bool {
    let asks = |condition: &Expression| {
        condition.any(&|part| matches!(&part.kind, ExpressionKind::Function(call) if is_question(call)))
    };
    select.conditions.iter().any(asks) || select.tree.as_ref().is_some_and(|tree| tree.has_condition(&asks))
}

fn is_question(call: &FunctionCall) -> bool {
    matches!(call.definition.name, MEMBER_OF | "json_contains" | "json_overlaps") && call.arguments.len() == 2
}

/// The columns of elements that an index has which hints leave.
fn usable_arrays(binder: &mut Binder<'_>, number: usize, definition: &TableDefinition) -> Vec<usize> {
    let limits = &binder.block().tables[number].limits;
    let usable =
        definition.indexes.iter().filter(|index| !index.invisible && limits.allows_for_join(&index.name));
    let columns = usable.flat_map(|index| &index.parts).map(|part| part.column);
    columns.filter(|column| definition.columns[*column].element_type().is_some()).collect()
}

fn replace_calls(condition: &mut Expression, replace: &mut dyn FnMut(&FunctionCall) -> Option<Expression>) {
    match &mut condition.kind {
        ExpressionKind::And(terms) | ExpressionKind::Or(terms) => {
            terms.iter_mut().for_each(|term| replace_calls(term, replace));
        }
        ExpressionKind::Function(call) if is_question(call) => {
            if let Some(asked) = replace(call) {
                *condition = asked;
            }
        }
        _ => {}
    }
}

/// A hidden column of elements, and the document of which they are.
struct IndexedArray {
    hidden: ColumnDefinition,
    value: IndexedValue,
}

impl IndexedArray {
    /// None if the block does not read what the document is made of, or who computes it decides what it is.
    fn of(
        binder: &mut Binder<'_>,
        number: usize,
        definition: &TableDefinition,
        place: usize,
    ) -> Option<IndexedArray> {
        let hidden = &definition.columns[place];
        let ast::Expression::Cast(cast) = parse_stored(hidden.key_expression()?).ok()? else { return None };
        let document = bound_in_table(binder, definition, &cast.operand)?;
        let result = ResultType::column(hidden.column_type.clone(), true);
        let column = Expression::slot(place, Arc::from(hidden.shown_name().as_ref()), result);
        let mut value = IndexedValue { table: number, place, column, expression: document };
        value.read_slots(binder.block()).then(|| IndexedArray { hidden: hidden.clone(), value })
    }

    /// The question that a call asks of the elements; None if it is another document's, or its constant is no value of their type.
    fn asked(&self, binder: &mut Binder<'_>, call: &FunctionCall) -> Option<Expression> {
        let is_document = |argument: &Expression| ::expression::yields_same(argument, &self.value.expression);
        let (first, second) = (&call.arguments[0], &call.arguments[1]);
        let (constant, joins): (_, fn(Vec<Expression>) -> Expression) = match call.definition.name {
            MEMBER_OF if is_document(second) && self.takes(first) => (first, Expression::and),
            "json_contains" if is_document(first) => (second, Expression::and),
            "json_overlaps" if is_document(first) => (second, Expression::or),
            "json_overlaps" if is_document(second) => (first, Expression::or),
            _ => return None,
        };
        let is_element = call.definition.name == MEMBER_OF;
        let elements = self.elements_of(binder, constant, is_element)?;
        if elements.is_empty() || elements.len() > ELEMENTS_MAX {
            return None;
        }
        let questions: SqlResult<Vec<Expression>> =
            elements.into_iter().map(|element| self.is_member(binder, element)).collect();
        questions.ok().map(joins)
    }

    /// Whether MySQL takes such a value for one of the elements' type. Of documents their values tell.
    fn takes(&self, value: &Expression) -> bool {
        use TypeClass as Class;
        let Some(element_type) = self.hidden.element_type() else { return false };
        let elements = ::expression::result_type::class_of(element_type.kind);
        matches!(
            (elements, value.result.class()),
            (_, Class::Json)
                | (Class::Integer, Class::Integer)
                | (Class::Decimal, Class::Decimal)
                | (Class::Text, Class::Text)
                | (Class::DateTime | Class::Time, Class::DateTime | Class::Time | Class::Text)
        )
    }

    /// The elements of a constant, as the index would have them. None if it is no constant, or the index could not have them.
    fn elements_of(
        &self,
        binder: &mut Binder<'_>,
        constant: &Expression,
        is_element: bool,
    ) -> Option<Vec<Value>> {
        let may_change = |part: &Expression| match &part.kind {
            ExpressionKind::Subquery(_) | ExpressionKind::AssignUserVariable(..) => true,
            ExpressionKind::UserVariable(_) => binder.nature.assigns,
            ExpressionKind::Function(call) => !call.definition.pure,
            _ => false,
        };
        if constant.reads_rows() || constant.any(&may_change) {
            return None;
        }
        // The plan is one for this value.
        binder.nature.volatile |= constant.literal().is_none();
        let as_document = if is_element { builtins::find("json_array")? } else { &builtins::CAST_AS_ARRAY };
        let site = binder.site();
        let document = Expression::call(as_document, vec![constant.clone()], site, binder.facts).ok()?;
        let reported = binder.input.context.diagnostics().mark();
        let array = self.array_of(&document, binder.input.context);
        binder.input.context.diagnostics().forget_since(reported);
        let array = array?;
        let Node::Array(elements) = Node::of(&array) else { return None };
        elements.iter().map(|element| element_value(element, self.hidden.element_type()?)).collect()
    }

    fn array_of(&self, document: &Expression, context: &mut dyn EvaluationContext) -> Option<Vec<u8>> {
        let Ok(Value::Bytes(document)) = document.evaluate(RowRef::EMPTY, context) else { return None };
        let mode = store_mode(context.facts(), true);
        let part = MultiValuedPart::new(&self.hidden, 1, mode)?;
        let mut told = Diagnostics::new(CONDITIONS_MAX);
        part.value(&document, &mut told, &DocumentWatch::new(context)).ok()
    }

    fn is_member(&self, binder: &mut Binder<'_>, element: Value) -> SqlResult<Expression> {
        let element_type = self.hidden.element_type().unwrap_or(&self.hidden.column_type);
        let element = Expression::constant(element, ResultType::column(element_type.clone(), false));
        let (column, site) = (self.value.column_in(binder.block()), binder.site());
        Expression::call(&builtins::MEMBER_OF, vec![element, column], site, binder.facts)
    }
}
