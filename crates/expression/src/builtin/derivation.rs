//! What a function's type rule sees: its arguments, which it may convert. Main type: [`Derivation`].

use crate::build::BuildFacts;
use crate::derive::{self, DerivedCollation};
use crate::result_type::ResultType;
use crate::tree::Expression;
use charset::CollationId;
use errors::SqlResult;
use std::ops::Range;

/// The arguments of a call while its type is derived.
pub struct Derivation<'a> {
    /// The function's name, for errors.
    pub name: &'static str,
    /// The arguments; a rule may wrap them in conversions.
    pub arguments: &'a mut [Expression],
    /// collation_connection.
    pub connection: CollationId,
    /// What the constructors of operators need.
    pub facts: BuildFacts,
    /// Values of constant arguments that were evaluated for the type.
    pub known: &'a [Option<values::Value>],
}

impl Derivation<'_> {
    /// Type of an argument.
    pub fn argument(&self, index: usize) -> &ResultType {
        &self.arguments[index].result
    }

    /// How many arguments there are.
    pub fn count(&self) -> usize {
        self.arguments.len()
    }

    /// Whether any argument can be NULL.
    pub fn any_nullable(&self) -> bool {
        self.arguments.iter().any(|argument| argument.result.nullable)
    }

    /// The value of an argument that is a constant.
    pub fn constant(&self, index: usize) -> Option<&values::Value> {
        let known = self.known.get(index).and_then(Option::as_ref);
        known.or_else(|| self.arguments.get(index).and_then(Expression::literal))
    }

    /// The common collation of some arguments, for a result that is made of them (CONCAT). Converts them.
    pub fn collation(&mut self, range: Range<usize>) -> SqlResult<DerivedCollation> {
        self.choose(range, false)
    }

    /// The common collation of some arguments that are compared or searched (LOCATE). Converts them.
    pub fn comparison_collation(&mut self, range: Range<usize>) -> SqlResult<DerivedCollation> {
        self.choose(range, true)
    }

    /// The collation of the first argument, for a result that is made out of it (REPLACE). Converts those of `others`.
    pub fn first_collation(&mut self, others: &[usize]) -> SqlResult<DerivedCollation> {
        let Some((first, rest)) = self.arguments.split_first_mut() else { return self.choose(0..0, false) };
        let mut converted: Vec<&mut Expression> = rest
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| others.contains(&(index + 1)))
            .map(|(_, other)| other)
            .collect();
        derive::first_collation(first, &mut converted, self.connection)
    }

    fn choose(&mut self, range: Range<usize>, compares: bool) -> SqlResult<DerivedCollation> {
        let mut operands: Vec<&mut Expression> = self.arguments[range].iter_mut().collect();
        derive::common_collation(&mut operands, self.connection, self.name, compares)
    }

    /// The type that holds all of these arguments (COALESCE).
    pub fn common_type(&mut self, range: Range<usize>) -> SqlResult<ResultType> {
        let is_text = |argument: &Expression| argument.result.class() == crate::result_type::TypeClass::Text;
        let collation = if self.arguments[range.clone()].iter().any(is_text) {
            self.choose(range.clone(), false)?
        } else {
            DerivedCollation {
                collation: self.connection,
                coercibility: crate::result_type::Coercibility::Coercible,
                ascii_only: true,
            }
        };
        let types: Vec<&ResultType> = self.arguments[range].iter().map(|argument| &argument.result).collect();
        Ok(crate::common_type::common_type(&types, collation))
    }

    /// Text of at most so many characters in the connection's collation.
    pub fn connection_text(&self, characters: u32) -> ResultType {
        ResultType::text(characters, self.connection, crate::result_type::Coercibility::Coercible)
    }
}
