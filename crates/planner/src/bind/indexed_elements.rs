//! Conditions over documents whose elements a multi-valued index has: `constant MEMBER OF (document)`, JSON_CONTAINS(document, constant)
//! and JSON_OVERLAPS of both become questions for elements of the index's hidden column, as in MySQL: what is found is what the
//! array of the index holds, also where that has converted an element. Main function: [`read_indexed_elements`].

use super::Binder;
use super::indexed_values::bound_in_table;
use super::stored_text::parse_stored;
use ::expression::builtin::{CONTAINS, FunctionDefinition, JSON_ARRAY, MEMBER_OF, OVERLAPS};
use ::expression::{
    DocumentWatch, EvaluationContext, Expression, ExpressionKind, FunctionCall, ResultType, TypeClass,
};
use dictionary::{ColumnDefinition, TableDefinition};
use errors::{Diagnostics, SqlResult};
use optimizer::{LogicalSelect, Source};
use parser::ast;
use plan::MultiValuedPart;
use plan::json_table::store_mode;
use rewrite::IndexedValue;
use std::sync::Arc;
use values::json::{Node, element_value};
use values::{RowRef, Value};

/// A statement looks for so many elements; its further conditions ask the documents.
const ELEMENTS_MAX: usize = 1000;
/// Nobody reads them.
const CONDITIONS_MAX: usize = 1;

/// Puts questions for elements in the places of conditions over documents, but for documents of the tables `made_up`, which are bits.
pub(crate) fn read_indexed_elements(binder: &mut Binder<'_>, select: &mut LogicalSelect, made_up: u64) {
    for number in 0..binder.block().tables.len() {
        let Source::Base(table) = &binder.block().tables[number].source else { continue };
        if table.arrays.is_none() || made_up >> number & 1 == 1 {
            continue;
        }
        let table = Arc::clone(table);
        for place in usable_arrays(binder, number, table.definition()) {
            let Some(array) = IndexedArray::of(binder, number, table.definition(), place) else { continue };
            let mut replace = |call: &FunctionCall| array.asked(binder, call);
            select.conditions.iter_mut().for_each(|condition| replace_calls(condition, &mut replace));
            if let Some(tree) = &mut select.tree {
                tree.for_each_inner_condition(&mut |condition| replace_calls(condition, &mut replace));
            }
        }
    }
}

fn is_question(call: &FunctionCall) -> bool {
    matches!(call.definition.name, MEMBER_OF | CONTAINS | OVERLAPS) && call.arguments.len() == 2
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
        // Truth values that are compared, as MySQL.
        ExpressionKind::Compare(comparison) => {
            replace_calls(&mut comparison.left, replace);
            replace_calls(&mut comparison.right, replace);
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
        let constant = match call.definition.name {
            MEMBER_OF if is_document(second) && self.takes(first) => first,
            CONTAINS if is_document(first) => second,
            OVERLAPS if is_document(first) => second,
            OVERLAPS if is_document(second) => first,
            _ => return None,
        };
        let is_element = call.definition.name == MEMBER_OF;
        let elements = self.elements_of(binder, constant, is_element)?;
        let element_type = self.hidden.element_type()?;
        let constant = |value| Expression::constant(value, ResultType::column(element_type.clone(), false));
        let mut elements: Vec<Expression> = elements.into_iter().map(constant).collect();
        let column = self.value.column_in(binder.block());
        let arguments = if is_element {
            vec![elements.pop()?, column]
        } else {
            vec![column, called(binder, builtins::find(JSON_ARRAY)?, elements).ok()?]
        };
        called(binder, call.definition, arguments).ok()
    }

    /// Whether MySQL takes such a value for one of the elements' type.
    fn takes(&self, value: &Expression) -> bool {
        use TypeClass as Class;
        let Some(element_type) = self.hidden.element_type() else { return false };
        let elements = ::expression::result_type::class_of(element_type.kind);
        matches!(
            (elements, value.result.class()),
            (Class::Integer, Class::Integer)
                | (Class::Decimal, Class::Decimal)
                | (Class::Text, Class::Text | Class::Json)
                | (Class::DateTime | Class::Time, Class::DateTime | Class::Time | Class::Text | Class::Json)
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
            ExpressionKind::Function(call) => call.definition.differs_between_rows(),
            _ => false,
        };
        if constant.reads_rows() || constant.any(&may_change) {
            return None;
        }
        // The plan is one for this value.
        binder.nature.volatile |= constant.literal().is_none();
        let as_document = if is_element { builtins::find(JSON_ARRAY)? } else { &builtins::CAST_AS_ARRAY };
        let document = called(binder, as_document, vec![constant.clone()]).ok()?;
        let reported = binder.input.context.diagnostics().mark();
        let array = self.array_of(&document, binder.input.context);
        binder.input.context.diagnostics().forget_since(reported);
        let array = array?;
        let Node::Array(elements) = Node::of(&array) else { return None };
        binder.nature.elements_asked += elements.len();
        if binder.nature.elements_asked > ELEMENTS_MAX {
            return None;
        }
        elements.iter().map(|element| element_value(element, self.hidden.element_type()?)).collect()
    }

    fn array_of(&self, document: &Expression, context: &mut dyn EvaluationContext) -> Option<Vec<u8>> {
        let Ok(Value::Bytes(document)) = document.evaluate(RowRef::EMPTY, context) else { return None };
        let mode = store_mode(context.facts(), true);
        let part = MultiValuedPart::new(&self.hidden, 1, mode)?;
        let mut told = Diagnostics::new(CONDITIONS_MAX);
        part.value(&document, &mut told, &DocumentWatch::new(context)).ok()
    }
}

fn called(
    binder: &mut Binder<'_>,
    definition: &'static FunctionDefinition,
    arguments: Vec<Expression>,
) -> SqlResult<Expression> {
    let site = binder.site();
    Expression::call(definition, arguments, site, binder.facts)
}
