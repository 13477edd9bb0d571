//! An XPath as an expression. Main function: [`compile`]. The grammar is MySQL's part of XPath 1.0: what is no list of nodes is
//! computed as SQL computes it, so 7 div 2 is 3 and texts are compared under the document's collation.

use super::lexer::{Lexer, Token};
use super::nodes::Builder;
use charset::CollationId;
use errors::{SqlError, SqlResult, code, sql_error};
use expression::operators::{ArithmeticOperator as A, ComparisonOperator as C};
use expression::result_type::ResultType;
use expression::{BuildFacts, Expression};
use functions::xml::Axis;
use values::Value;

/// A part of a path.
pub enum Operand {
    /// A list of nodes.
    Nodes(Expression),
    /// A value, and whether it is a truth value.
    Scalar {
        /// The value.
        value: Expression,
        /// Whether it is a truth value: as a predicate it is no position.
        is_truth: bool,
    },
}

impl Operand {
    /// Its expression.
    pub fn value(&self) -> &Expression {
        match self {
            Operand::Nodes(value) | Operand::Scalar { value, .. } => value,
        }
    }

    fn scalar(value: Expression) -> Operand {
        Operand::Scalar { value, is_truth: false }
    }

    fn truth(value: Expression) -> Operand {
        Operand::Scalar { value, is_truth: true }
    }
}

/// Functions, with the fewest and the most arguments.
const FUNCTIONS: [(&str, usize, usize); 16] = [
    ("boolean", 1, 1),
    ("ceiling", 1, 1),
    ("concat", 2, 255),
    ("contains", 2, 2),
    ("count", 1, 1),
    ("false", 0, 0),
    ("floor", 1, 1),
    ("last", 0, 0),
    ("not", 1, 1),
    ("number", 0, 1),
    ("position", 0, 0),
    ("round", 1, 1),
    ("string-length", 0, 1),
    ("substring", 2, 3),
    ("sum", 1, 1),
    ("true", 0, 0),
];
const FUNCTION_NAMES: [&str; 16] = {
    let mut names = [""; 16];
    let mut index = 0;
    while index < names.len() {
        names[index] = FUNCTIONS[index].0;
        index += 1;
    }
    names
};

/// Operations and steps that a path has at most: each is a level of the expression.
const OPERATIONS_MAX: usize = 300;
/// Levels of parentheses, predicates and signs.
const LEVELS_MAX: usize = 100;
/// Bytes that errors show of a path.
const SHOWN_BYTES_MAX: usize = 32;
/// Stack that is left free for what is evaluated.
const STACK_BYTES: usize = 2 << 20;
const STACK_BYTES_LEFT: usize = 1 << 20;

/// Levels of operators, the loosest first.
const OPERATOR_LEVELS: usize = 6;

struct Parser<'t> {
    lexer: Lexer<'t>,
    build: Builder,
    facts: BuildFacts,
    variable: &'t dyn Fn(&str) -> ResultType,
    operations: usize,
    levels: usize,
    /// How many predicates are open.
    predicates: usize,
}

/// Compiles a path for the call at that site. `variable` gives the types of user variables. Errors: 1105 for what is no path, 1436 for one
/// that is too long.
pub fn compile(
    text: &[u8],
    collation: CollationId,
    site: usize,
    facts: BuildFacts,
    variable: &dyn Fn(&str) -> ResultType,
) -> SqlResult<Operand> {
    let lexer = Lexer::new(text, &FUNCTION_NAMES);
    let build = Builder { site, collation };
    let mut parser = Parser { lexer, build, facts, variable, operations: 0, levels: 0, predicates: 0 };
    let used = stdx::stack::bytes_used();
    if used > STACK_BYTES - STACK_BYTES_LEFT {
        return Err(sql_error!(ER_STACK_OVERRUN_NEED_MORE, used, STACK_BYTES, STACK_BYTES_LEFT));
    }
    let operand = parser.operation(0)?;
    match parser.lexer.token {
        Token::End => Ok(operand),
        _ => Err(parser.wrong()),
    }
}

fn message(what: &str, rest: &[u8]) -> SqlError {
    let shown = String::from_utf8_lossy(&rest[..rest.len().min(SHOWN_BYTES_MAX)]);
    code::ER_UNKNOWN_ERROR.message(format!("{what}: '{shown}'"))
}

impl Parser<'_> {
    fn wrong(&self) -> SqlError {
        message("XPATH syntax error", self.lexer.rest())
    }

    fn accept(&mut self, token: Token) -> bool {
        let is_there = self.lexer.token == token;
        if is_there {
            self.lexer.advance();
        }
        is_there
    }

    fn accept_sign(&mut self, sign: u8) -> bool {
        self.accept(Token::Sign(sign))
    }

    fn expect_sign(&mut self, sign: u8) -> SqlResult<()> {
        if self.accept_sign(sign) { Ok(()) } else { Err(self.wrong()) }
    }

    /// Counts an operation. Error 1436.
    fn count(&mut self) -> SqlResult<()> {
        self.operations += 1;
        if self.operations > OPERATIONS_MAX { Err(too_deep()) } else { Ok(()) }
    }

    fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        if self.levels >= LEVELS_MAX {
            return Err(too_deep());
        }
        self.levels += 1;
        let result = step(self);
        self.levels -= 1;
        result
    }

    /// The operator of that level that stands here, if one does.
    fn operator(&mut self, level: usize) -> SqlResult<Option<Operator>> {
        let word = match self.lexer.token {
            Token::Name => self.lexer.text(),
            Token::Sign(sign) => return self.sign_operator(level, sign),
            _ => return Ok(None),
        };
        let operator = match (level, word) {
            (0, b"or") => Operator::Or,
            (1, b"and") => Operator::And,
            (5, b"div") => Operator::Arithmetic(A::IntegerDivide),
            (5, b"mod") => Operator::Arithmetic(A::Modulo),
            _ => return Ok(None),
        };
        self.lexer.advance();
        Ok(Some(operator))
    }

    fn sign_operator(&mut self, level: usize, sign: u8) -> SqlResult<Option<Operator>> {
        let operator = match (level, sign) {
            (2, b'=') => Operator::Compare(C::Equal),
            (2, b'!') => {
                self.lexer.advance();
                self.expect_sign(b'=')?;
                return Ok(Some(Operator::Compare(C::NotEqual)));
            }
            (3, b'<' | b'>') => {
                self.lexer.advance();
                let or_equal = self.accept_sign(b'=');
                return Ok(Some(Operator::Compare(match (sign, or_equal) {
                    (b'<', false) => C::Less,
                    (b'<', true) => C::LessOrEqual,
                    (_, false) => C::Greater,
                    (_, true) => C::GreaterOrEqual,
                })));
            }
            (4, b'+') => Operator::Arithmetic(A::Add),
            (4, b'-') => Operator::Arithmetic(A::Subtract),
            (5, b'*') => Operator::Arithmetic(A::Multiply),
            _ => return Ok(None),
        };
        self.lexer.advance();
        Ok(Some(operator))
    }

    /// Operands with operators of that level and tighter ones between them.
    fn operation(&mut self, level: usize) -> SqlResult<Operand> {
        if level == OPERATOR_LEVELS {
            return self.signed();
        }
        let mut left = self.operation(level + 1)?;
        loop {
            let shown = self.lexer.rest();
            let Some(operator) = self.operator(level)? else { return Ok(left) };
            self.count()?;
            let right = self.operation(level + 1)?;
            left = self.combined(operator, left, right, shown)?;
        }
    }

    fn combined(
        &mut self,
        operator: Operator,
        left: Operand,
        right: Operand,
        shown: &[u8],
    ) -> SqlResult<Operand> {
        Ok(match operator {
            Operator::Or => Operand::truth(Expression::or(vec![self.truth(left), self.truth(right)])),
            Operator::And => Operand::truth(Expression::and(vec![self.truth(left), self.truth(right)])),
            Operator::Arithmetic(operator) => {
                let (left, right) = (self.plain(left), self.plain(right));
                Operand::scalar(Expression::arithmetic(operator, left, right, self.facts)?)
            }
            Operator::Compare(operator) => self.comparison(operator, left, right, shown)?,
        })
    }

    /// A comparison of nodes holds if it does for any text in them.
    fn comparison(&mut self, operator: C, left: Operand, right: Operand, shown: &[u8]) -> SqlResult<Operand> {
        let facts = self.facts;
        let text = self.build.compared_text();
        Ok(Operand::truth(match (left, right) {
            (Operand::Nodes(_), Operand::Nodes(_)) => {
                return Err(message("XPATH error: comparison of two nodesets is not supported", shown));
            }
            (Operand::Nodes(nodes), Operand::Scalar { value, .. }) => {
                self.build.any_text(nodes, Expression::compare(operator, text, value, facts)?)
            }
            (Operand::Scalar { value, .. }, Operand::Nodes(nodes)) => {
                self.build.any_text(nodes, Expression::compare(operator, value, text, facts)?)
            }
            (Operand::Scalar { value: left, .. }, Operand::Scalar { value: right, .. }) => {
                Expression::compare(operator, left, right, facts)?
            }
        }))
    }

    /// As a condition.
    fn truth(&self, operand: Operand) -> Expression {
        match operand {
            Operand::Nodes(nodes) => self.build.is_one(nodes),
            Operand::Scalar { value, .. } => value,
        }
    }

    /// As a value: the text of nodes.
    fn plain(&self, operand: Operand) -> Expression {
        match operand {
            Operand::Nodes(nodes) => self.build.text(nodes),
            Operand::Scalar { value, .. } => value,
        }
    }

    fn signed(&mut self) -> SqlResult<Operand> {
        if !self.accept_sign(b'-') {
            return self.union();
        }
        self.count()?;
        let operand = self.nested(Parser::signed)?;
        Ok(Operand::scalar(Expression::negate(self.plain(operand))?))
    }

    fn union(&mut self) -> SqlResult<Operand> {
        let mut left = self.path()?;
        while self.accept_sign(b'|') {
            self.count()?;
            let Operand::Nodes(first) = left else { return Err(self.wrong()) };
            let Operand::Nodes(second) = self.path()? else { return Err(self.wrong()) };
            left = Operand::Nodes(self.build.union(first, second));
        }
        Ok(left)
    }

    /// Where a relative path starts.
    fn start(&self) -> Expression {
        if self.predicates > 0 { self.build.context() } else { self.build.root() }
    }

    fn starts_step(&self) -> bool {
        use Token::{Axis, DoublePoint, Name, NodeType, Sign};
        matches!(self.lexer.token, Axis(_) | DoublePoint | Name | NodeType | Sign(b'.' | b'@' | b'*'))
    }

    fn path(&mut self) -> SqlResult<Operand> {
        match self.lexer.token {
            Token::Sign(b'/') => {
                self.lexer.advance();
                let root = self.build.root();
                Ok(Operand::Nodes(if self.starts_step() { self.steps(root)? } else { root }))
            }
            Token::DoubleSlash => {
                let root = self.build.root();
                self.more_steps(root).map(Operand::Nodes)
            }
            _ if self.starts_step() => {
                let start = self.start();
                self.steps(start).map(Operand::Nodes)
            }
            _ => match self.primary()? {
                Operand::Nodes(nodes) => self.more_steps(nodes).map(Operand::Nodes),
                scalar => Ok(scalar),
            },
        }
    }

    fn steps(&mut self, from: Expression) -> SqlResult<Expression> {
        let first = self.step(from)?;
        self.more_steps(first)
    }

    /// Steps behind slashes.
    fn more_steps(&mut self, mut from: Expression) -> SqlResult<Expression> {
        loop {
            if self.accept(Token::DoubleSlash) {
                self.count()?;
                from = self.build.step(from, Axis::DescendantOrSelf, b"*");
            } else if !self.accept_sign(b'/') {
                return Ok(from);
            }
            from = self.step(from)?;
        }
    }

    fn step(&mut self, from: Expression) -> SqlResult<Expression> {
        self.count()?;
        if self.accept_sign(b'.') {
            return Ok(from);
        }
        if self.accept(Token::DoublePoint) {
            return Ok(self.build.step(from, Axis::Parent, b"*"));
        }
        let axis = match self.lexer.token {
            Token::Sign(b'@') => {
                self.lexer.advance();
                Axis::Attribute
            }
            Token::Axis(axis) => {
                self.lexer.advance();
                self.expect_sign(b':')?;
                self.expect_sign(b':')?;
                axis
            }
            _ => Axis::Child,
        };
        let name: &[u8] = match self.lexer.token {
            Token::Name => self.lexer.text(),
            Token::Sign(b'*') => b"*",
            Token::NodeType => return self.node_type(from),
            _ => return Err(self.wrong()),
        };
        let found = self.build.step(from, axis, name);
        self.lexer.advance();
        self.filtered(found)
    }

    /// A type of nodes finds what the step starts from, as in MySQL, whose texts are those of their elements.
    fn node_type(&mut self, from: Expression) -> SqlResult<Expression> {
        self.lexer.advance();
        self.expect_sign(b'(')?;
        self.expect_sign(b')')?;
        self.filtered(from)
    }

    fn filtered(&mut self, mut nodes: Expression) -> SqlResult<Expression> {
        while self.accept_sign(b'[') {
            self.count()?;
            self.predicates += 1;
            let predicate = self.nested(|parser| parser.operation(0))?;
            self.predicates -= 1;
            self.expect_sign(b']')?;
            nodes = match predicate {
                Operand::Scalar { value, is_truth: false } => self.build.at_position(nodes, value),
                condition => {
                    let condition = self.truth(condition);
                    self.build.filter(nodes, condition)
                }
            };
        }
        Ok(nodes)
    }

    fn primary(&mut self) -> SqlResult<Operand> {
        let text = self.lexer.text();
        match self.lexer.token {
            Token::Sign(b'(') => {
                self.lexer.advance();
                let inner = self.nested(|parser| parser.operation(0))?;
                self.expect_sign(b')')?;
                Ok(inner)
            }
            Token::Sign(b'$') => self.user_variable(),
            Token::String => {
                self.lexer.advance();
                Ok(Operand::scalar(self.build.literal(text)))
            }
            Token::Number => {
                self.lexer.advance();
                Ok(Operand::scalar(number(text)))
            }
            Token::Function(function) => {
                self.lexer.advance();
                self.count()?;
                self.expect_sign(b'(')?;
                self.nested(|parser| parser.function(function))
            }
            _ => Err(self.wrong()),
        }
    }

    fn user_variable(&mut self) -> SqlResult<Operand> {
        let shown = self.lexer.rest();
        self.lexer.advance();
        let is_users = self.accept_sign(b'@');
        if self.lexer.token != Token::Name {
            return Err(self.wrong());
        }
        if !is_users {
            return Err(message("Unknown XPATH variable at", shown));
        }
        let name = String::from_utf8_lossy(self.lexer.text()).to_lowercase();
        self.lexer.advance();
        let result = (self.variable)(&name);
        Ok(Operand::scalar(self.build.variable(&name, result)))
    }

    fn function(&mut self, function: usize) -> SqlResult<Operand> {
        let (name, fewest, most) = FUNCTIONS[function];
        let mut arguments = Vec::new();
        while arguments.len() < most {
            if arguments.len() >= fewest && self.lexer.token == Token::Sign(b')') {
                break;
            }
            arguments.push(self.operation(0)?);
            if !self.accept_sign(b',') {
                break;
            }
        }
        if arguments.len() < fewest {
            return Err(self.wrong());
        }
        self.expect_sign(b')')?;
        self.call(name, arguments)
    }

    fn call(&mut self, name: &str, arguments: Vec<Operand>) -> SqlResult<Operand> {
        let mut arguments = arguments.into_iter();
        let is_asked = self.predicates > 0;
        let first = match (name, arguments.next()) {
            ("true" | "false", _) => {
                return Ok(Operand::truth(Expression::boolean(name == "true")));
            }
            ("last", _) if is_asked => return Ok(Operand::scalar(self.build.last())),
            ("position", _) if is_asked => return Ok(Operand::scalar(self.build.position())),
            (_, Some(first)) => first,
            ("string-length", None) if is_asked => Operand::Nodes(self.build.context()),
            ("number", None) => Operand::Nodes(self.start()),
            _ => return Err(self.wrong()),
        };
        match (name, first) {
            ("count", Operand::Nodes(nodes)) => Ok(Operand::scalar(self.build.count(nodes))),
            ("sum", Operand::Nodes(nodes)) => Ok(Operand::scalar(self.build.sum(nodes))),
            ("count" | "sum", _) => Err(self.wrong()),
            ("boolean" | "not", operand) => {
                let truth = match operand {
                    Operand::Nodes(nodes) => self.build.is_one(nodes),
                    Operand::Scalar { value, .. } => self.build.truth(value),
                };
                Ok(Operand::truth(if name == "not" { Expression::not(truth) } else { truth }))
            }
            ("number", operand) => {
                let operand = self.plain(operand);
                Ok(Operand::scalar(self.build.number(operand)))
            }
            ("contains", operand) => {
                let within = self.plain(operand);
                let Some(wanted) = arguments.next() else { return Err(self.wrong()) };
                let found = self.built_in("locate", vec![self.plain(wanted), within])?;
                let none = Expression::integer(0);
                Ok(Operand::truth(Expression::compare(C::Greater, found, none, self.facts)?))
            }
            (name, operand) => {
                let name = if name == "string-length" { "char_length" } else { name };
                // MySQL puts only the first two texts of CONCAT together.
                let most = if name == "concat" { 1 } else { 2 };
                let mut plain = vec![self.plain(operand)];
                plain.extend(arguments.take(most).map(|operand| self.plain(operand)));
                self.built_in(name, plain).map(Operand::scalar)
            }
        }
    }

    /// A function of SQL, which keeps nothing between its calls.
    fn built_in(&self, name: &str, arguments: Vec<Expression>) -> SqlResult<Expression> {
        let definition =
            crate::find(name).ok_or_else(|| sql_error!(ER_SP_DOES_NOT_EXIST, "FUNCTION", name))?;
        Expression::call(definition, arguments, self.build.site, self.facts)
    }
}

/// An operator between two operands.
enum Operator {
    Or,
    And,
    Compare(C),
    Arithmetic(A),
}

/// Characters of the longest integer.
const INTEGER_LENGTH: u32 = 21;

/// Digits: an integer of 64 bits, or with a point a floating point number of so many decimals.
fn number(text: &[u8]) -> Expression {
    let Some(point) = text.iter().position(|byte| *byte == b'.') else {
        let parsed = values::number::parse_integer(text);
        let bits = if parsed.overflow { u64::MAX } else { parsed.magnitude };
        return Expression::constant(Value::Int(bits as i64), ResultType::integer(INTEGER_LENGTH));
    };
    let decimals = u8::try_from(text.len() - point - 1).unwrap_or(u8::MAX);
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let value = values::number::parse_f64(text).number;
    Expression::constant(Value::Double(value), ResultType::double_of(length, decimals))
}

fn too_deep() -> SqlError {
    sql_error!(ER_STACK_OVERRUN_NEED_MORE, STACK_BYTES, STACK_BYTES, STACK_BYTES_LEFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expression::SqlMode;

    fn compiled(text: &str) -> SqlResult<Operand> {
        let facts = BuildFacts {
            sql_mode: SqlMode::DEFAULT,
            connection: CollationId::UTF8MB4_0900_AI_CI,
            division_precision_increment: 4,
            encryption_mode: Default::default(),
            time_names: expression::locale::english(),
            literal_parameters: true,
            escalates: false,
        };
        let no_variable = |_: &str| ResultType::null();
        compile(text.as_bytes(), CollationId::UTF8MB4_0900_AI_CI, 0, facts, &no_variable)
    }

    fn error_number(text: &str) -> u16 {
        compiled(text).err().map_or(0, |error| error.number())
    }

    #[test]
    fn long_and_deep_paths_are_an_error_and_no_crash() {
        assert!(compiled(&"(1+".repeat(50)).is_err());
        assert!(compiled(&format!("{}1{}", "(".repeat(90), ")".repeat(90))).is_ok());
        for text in [
            "(".repeat(100_000),
            "-".repeat(100_000),
            format!("{}1", "1+".repeat(100_000)),
            "/a".repeat(100_000),
            format!("/a{}", "[a".repeat(100_000)),
            "not(".repeat(100_000),
            format!("/a{}", "|/a".repeat(100_000)),
        ] {
            assert_eq!(error_number(&text), 1436, "{}", &text[..8]);
        }
    }

    #[test]
    fn any_bytes_are_a_path_or_an_error() {
        for bytes in
            ["\u{0}", "$@", "'", "\"x", "/\u{ffff}", "a::::b", "[[", "1..2", "@@@", "//*[", "- -", "()"]
        {
            let _ = compiled(bytes);
        }
        assert_eq!(error_number("/a["), 1105);
    }
}
