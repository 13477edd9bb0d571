//! Sets in brackets, with their operators. Main function: [`parse`].

use crate::class::named;
use crate::parser::Parser;
use errors::{SqlResult, sql_error};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// What waits for its right operand, or for the end of its bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Begin,
    Negation,
    CaseClosure,
    Difference,
    Intersection,
    Union,
    /// `-` between two sets in brackets.
    NearDifference,
    /// `&` between two sets in brackets.
    NearIntersection,
}

impl Operator {
    /// What binds at least as strongly is done before.
    fn strength(self) -> u8 {
        match self {
            Operator::Begin => 0,
            Operator::Negation | Operator::CaseClosure => 2,
            Operator::Difference | Operator::Intersection => 3,
            Operator::Union | Operator::NearDifference | Operator::NearIntersection => 4,
        }
    }
}

/// The strength of a closing bracket: all within the bracket is done.
const END: u8 = 1;

/// What was read last, which decides what `-` and `&` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the beginning of a set.
    Start,
    Literal,
    /// A set in brackets.
    Set,
    /// A range or one of `\d` and its like.
    Range,
    /// `--` or `&&`.
    Operator,
}

struct Brackets<'a, 'i> {
    parser: &'a mut Parser<'i>,
    sets: Vec<ClassUnicode>,
    operators: Vec<Operator>,
    place: Place,
}

/// The set of which the opening bracket is the current character; behind it in the end.
pub(crate) fn parse(parser: &mut Parser<'_>) -> SqlResult<ClassUnicode> {
    let folds = parser.flags.insensitive;
    let mut brackets =
        Brackets { parser, sets: vec![ClassUnicode::empty()], operators: Vec::new(), place: Place::Start };
    brackets.begin(folds)?;
    while !brackets.operators.is_empty() {
        brackets.step(folds)?;
    }
    Ok(brackets.sets.pop().unwrap_or_else(ClassUnicode::empty))
}

impl Brackets<'_, '_> {
    fn top(&mut self) -> &mut ClassUnicode {
        if self.sets.is_empty() {
            self.sets.push(ClassUnicode::empty());
        }
        self.sets.last_mut().expect("there is a set in the making")
    }

    fn add(&mut self, from: char, to: char) {
        self.top().push(ClassUnicodeRange::new(from, to));
    }

    fn literal(&mut self, character: char) {
        // What waits binds as strongly as the union with a literal, and came before.
        self.evaluate(Operator::Union.strength());
        self.sign(character);
        self.parser.set_literal = Some(character);
    }

    /// A `-` or `&` that is itself. A range that seems to begin with it begins with the literal before it, as in ICU.
    fn sign(&mut self, sign: char) {
        self.add(sign, sign);
        self.place = Place::Literal;
    }

    /// Behind an opening bracket.
    fn begin(&mut self, folds: bool) -> SqlResult<()> {
        self.parser.enter()?;
        self.operators.push(Operator::Begin);
        self.parser.scanner.advance()?;
        self.place = Place::Start;
        if self.parser.scanner.is(':')
            && let Some(class) = self.parser.posix()?
        {
            // Behind ":]", and so behind the set.
            self.top().union(&class);
            return self.end();
        }
        // A set is closed over case before it is negated.
        let negated = self.parser.scanner.take('^')?;
        if negated {
            self.operators.push(Operator::Negation);
        }
        if folds {
            self.operators.push(Operator::CaseClosure);
        }
        if self.parser.scanner.is(']') {
            self.parser.scanner.advance()?;
            self.literal(']');
        }
        Ok(())
    }

    /// Behind a closing bracket.
    fn end(&mut self) -> SqlResult<()> {
        self.evaluate(END);
        self.operators.pop();
        self.parser.leave();
        self.place = Place::Set;
        Ok(())
    }

    /// Does what waits and binds at least so strongly.
    fn evaluate(&mut self, strength: u8) {
        while let Some(operator) = self.operators.last().copied().filter(|last| last.strength() >= strength) {
            self.operators.pop();
            match operator {
                Operator::Begin => return,
                Operator::Negation => self.top().negate(),
                Operator::CaseClosure => self.top().case_fold_simple(),
                binary => {
                    let Some(right) = self.sets.pop() else { return };
                    let left = self.top();
                    match binary {
                        Operator::Difference | Operator::NearDifference => left.difference(&right),
                        Operator::Intersection | Operator::NearIntersection => left.intersect(&right),
                        _ => left.union(&right),
                    }
                }
            }
        }
    }

    fn operator(&mut self, operator: Operator) {
        self.evaluate(operator.strength());
        self.operators.push(operator);
        self.sets.push(ClassUnicode::empty());
    }

    fn nested(&mut self, operator: Operator, folds: bool) -> SqlResult<()> {
        self.operator(operator);
        self.begin(folds)
    }

    /// Takes the current character and what belongs to it.
    fn step(&mut self, folds: bool) -> SqlResult<()> {
        let scanned = self.parser.scanner.current;
        let Some(character) = scanned.character else {
            return Err(sql_error!(ER_REGEXP_MISSING_CLOSE_BRACKET));
        };
        match character {
            _ if scanned.quoted => {}
            ']' if self.place == Place::Operator => return Err(self.parser.scanner.syntax_error()),
            ']' => {
                self.parser.scanner.advance()?;
                return self.end();
            }
            '[' => return self.nested(Operator::Union, folds),
            '\\' => return self.escape(),
            '-' | '&' if self.place != Place::Operator => return self.dash_or_ampersand(character, folds),
            _ => {}
        }
        self.parser.scanner.advance()?;
        self.literal(character);
        Ok(())
    }

    /// `-` and `&`, which are operators, part of one, or characters.
    fn dash_or_ampersand(&mut self, sign: char, folds: bool) -> SqlResult<()> {
        let (near, far) = match sign {
            '-' => (Operator::NearDifference, Operator::Difference),
            _ => (Operator::NearIntersection, Operator::Intersection),
        };
        self.parser.scanner.advance()?;
        if self.parser.scanner.is(sign) {
            if self.place == Place::Start {
                return Err(self.parser.scanner.syntax_error());
            }
            self.parser.scanner.advance()?;
            self.operator(far);
            self.place = Place::Operator;
            return Ok(());
        }
        match self.place {
            Place::Set if self.parser.scanner.is('[') => self.nested(near, folds),
            Place::Literal if sign == '-' => self.range(),
            _ => {
                self.sign(sign);
                Ok(())
            }
        }
    }

    /// Behind a character and a `-`.
    fn range(&mut self) -> SqlResult<()> {
        let scanned = self.parser.scanner.current;
        let last = match scanned.character {
            Some('[' | ']') if !scanned.quoted => {
                self.sign('-');
                return Ok(());
            }
            Some('\\') if !scanned.quoted => {
                self.parser.scanner.advance()?;
                match self.parser.scanner.current.character {
                    Some('d' | 'D' | 's' | 'S' | 'w' | 'W') => {
                        return Err(self.parser.scanner.syntax_error());
                    }
                    Some('N') => return Err(self.parser.character_name()),
                    other => other,
                }
            }
            other => other,
        };
        let (Some(first), Some(last)) = (self.parser.set_literal, last) else {
            return Err(sql_error!(ER_REGEXP_INVALID_RANGE));
        };
        if last < first {
            return Err(sql_error!(ER_REGEXP_INVALID_RANGE));
        }
        self.parser.scanner.advance()?;
        self.add(first, last);
        self.place = Place::Range;
        Ok(())
    }

    fn escape(&mut self) -> SqlResult<()> {
        self.parser.scanner.advance()?;
        let Some(character) = self.parser.scanner.current.character else {
            return Err(sql_error!(ER_REGEXP_MISSING_CLOSE_BRACKET));
        };
        match character {
            'p' | 'P' => {
                let class = self.parser.property()?;
                self.top().union(&class);
                self.place = Place::Set;
            }
            'N' => return Err(self.parser.character_name()),
            _ => {
                self.parser.scanner.advance()?;
                match named(character) {
                    Some(class) => {
                        self.top().union(&class.ranges);
                        self.place = Place::Range;
                    }
                    None => self.literal(character),
                }
            }
        }
        Ok(())
    }
}
