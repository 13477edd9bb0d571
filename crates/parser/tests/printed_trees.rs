//! Random trees: what the printer writes the parser reads, and prints again in the same way. What takes more than one time is
//! exactly what MySQL's own text takes: NOT over AND and OR leaves nests that are one list when they are read, and a row in a
//! list of one is compared item by item only then.
//! `PRINTED_TREES=10000000 cargo test --release -p parser --test printed_trees` for a long run; a failure prints its seed.

use parser::ast::*;
use parser::{ParseOptions, parse_expression, print_expression};

/// Trees of a run that asks for no other number.
const TREES: u64 = 10_000;

#[test]
fn printed_trees_are_read_and_printed_again() {
    let count = std::env::var("PRINTED_TREES").ok().and_then(|text| text.parse().ok()).unwrap_or(TREES);
    for seed in 0..count {
        let mut generator = Generator { state: seed, negates: false, has_rows: false };
        let tree = generator.expression(5);
        let mut texts = vec![print_expression(&tree, "utf8mb4").unwrap()];
        for _ in 0..4 {
            let text = texts.last().unwrap();
            let read = parse_expression(text.as_bytes(), ParseOptions::default())
                .unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{text}\n{tree:?}"));
            texts.push(print_expression(&read, "utf8mb4").unwrap());
        }
        let settled = match generator {
            Generator { has_rows: true, .. } => 3,
            Generator { negates: true, .. } => 1,
            _ => 0,
        };
        assert_eq!(texts[settled], texts[settled + 1], "seed {seed}: {texts:#?}");
    }
}

/// Makes trees (splitmix64): the same seed gives the same tree.
struct Generator {
    state: u64,
    /// Whether the tree has a NOT.
    negates: bool,
    has_rows: bool,
}

impl Generator {
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn boxed(&mut self, levels: u32) -> Box<Expression> {
        Box::new(self.expression(levels))
    }

    fn several(&mut self, levels: u32, least: u64) -> Vec<Expression> {
        (0..least + self.below(3)).map(|_| self.expression(levels)).collect()
    }

    fn expression(&mut self, levels: u32) -> Expression {
        let Some(levels) = levels.checked_sub(1) else { return self.leaf() };
        match self.below(12) {
            0 => self.leaf(),
            1 | 2 => self.binary(levels),
            3 => Expression::And(self.several(levels, 2)),
            4 => Expression::Or(self.several(levels, 2)),
            5 | 6 => self.unary(levels),
            7 | 8 => self.predicate(levels),
            9 => self.function(levels),
            10 => self.call(levels),
            _ => self.cast_or_case(levels),
        }
    }

    fn leaf(&mut self) -> Expression {
        if self.chance() {
            let column = self.pick(&["a", "b", "Größe", "odd`name", "select"]);
            let table = self.pick(&[None, Some("t".to_owned())]);
            return Expression::Column(ColumnReference { schema: None, table, column: column.to_owned() });
        }
        let bytes = self.pick(TEXTS).to_vec();
        let introducer = self.pick(&[None, Some("utf8mb4"), Some("latin1"), Some("binary"), Some("ucs2")]);
        let introducer = introducer.map(str::to_owned);
        Expression::Literal(match self.below(9) {
            0 => self.pick(&[Literal::Null, Literal::True, Literal::False]),
            1 => Literal::Integer(self.pick(&[0, 1, 5, u64::MAX])),
            2 => {
                Literal::Decimal(self.pick(&["1.", ".5", "007.50", "0.0", "18446744073709551616"]).to_owned())
            }
            3 => Literal::Float(self.pick(&["1e3", "1.5E-7", ".5e+3", "01e0"]).to_owned()),
            4 => Literal::String { bytes, introducer },
            5 => Literal::Hex { bytes, introducer },
            6 => Literal::Bits { bytes, introducer },
            7 => self.pick(&[Literal::Date(b"2020-1-1".to_vec()), Literal::Date(b"nonsense'".to_vec())]),
            _ => self.pick(&[
                Literal::Time(b"1 2:3:4.5".to_vec()),
                Literal::Time(b"-838:59:59.9999999".to_vec()),
                Literal::Timestamp(b"2020-01-01 10:00:00.1234567".to_vec()),
                Literal::Timestamp(b"2020-01-01 10:00:00+01:00".to_vec()),
            ]),
        })
    }

    fn binary(&mut self, levels: u32) -> Expression {
        use BinaryOperator as B;
        let operator = self.pick(&[
            B::Add,
            B::Subtract,
            B::Multiply,
            B::Divide,
            B::IntegerDivide,
            B::Modulo,
            B::BitOr,
            B::BitAnd,
            B::BitXor,
            B::ShiftLeft,
            B::ShiftRight,
            B::Equal,
            B::NullSafeEqual,
            B::NotEqual,
            B::Less,
            B::LessOrEqual,
            B::Greater,
            B::GreaterOrEqual,
            B::LogicalXor,
            B::SoundsLike,
        ]);
        let (left, right) = if operator.is_comparison() && self.below(4) == 0 {
            (self.row(levels), self.row(levels))
        } else {
            (self.boxed(levels), self.boxed(levels))
        };
        Expression::Binary { operator, left, right }
    }

    /// Rows of one shape with each other, as far as MySQL takes them.
    fn row(&mut self, levels: u32) -> Box<Expression> {
        self.has_rows = true;
        Box::new(Expression::Row(vec![self.expression(levels), self.expression(levels)]))
    }

    fn unary(&mut self, levels: u32) -> Expression {
        use UnaryOperator as U;
        let operator = self.pick(&[U::Minus, U::Plus, U::BitNot, U::Not, U::Not, U::Binary]);
        self.negates |= operator == U::Not;
        let operand = self.boxed(levels);
        if self.below(8) == 0 {
            return Expression::Collate { operand, collation: "Utf8mb4_bin".to_owned() };
        }
        Expression::Unary { operator, operand }
    }

    fn predicate(&mut self, levels: u32) -> Expression {
        let negated = self.chance();
        match self.below(7) {
            0 | 1 => {
                let test = self.pick(&[IsTest::Null, IsTest::True, IsTest::False, IsTest::Unknown]);
                Expression::Is { operand: self.boxed(levels), test, negated }
            }
            2 => {
                let [operand, low, high] = [(); 3].map(|()| self.boxed(levels));
                Expression::Between { operand, low, high, negated }
            }
            3 if self.chance() => {
                let list = (0..1 + self.below(2)).map(|_| *self.row(levels)).collect();
                Expression::InList { operand: self.row(levels), list, negated }
            }
            3 => Expression::InList { operand: self.boxed(levels), list: self.several(levels, 1), negated },
            4 => {
                let escape = if self.chance() { Some(self.boxed(levels)) } else { None };
                let (operand, pattern) = (self.boxed(levels), self.boxed(levels));
                Expression::Like { operand, pattern, escape, negated }
            }
            5 => Expression::Regexp { operand: self.boxed(levels), pattern: self.boxed(levels), negated },
            _ => Expression::MemberOf { operand: self.boxed(levels), array: self.boxed(levels) },
        }
    }

    fn function(&mut self, levels: u32) -> Expression {
        let (name, count) = self.pick(FUNCTIONS);
        Expression::call(name, (0..count).map(|_| self.expression(levels)).collect())
    }

    fn call(&mut self, levels: u32) -> Expression {
        let unit = self.pick(&[IntervalUnit::Day, IntervalUnit::Microsecond, IntervalUnit::Quarter]);
        let operand = self.boxed(levels);
        match self.below(10) {
            0 => {
                let (amount, subtract) = (self.boxed(levels), self.chance());
                Expression::DateArithmetic { operand, amount, unit: IntervalUnit::YearMonth, subtract }
            }
            1 => Expression::TimestampAdd { unit, amount: self.boxed(levels), operand },
            2 => Expression::TimestampDiff { unit, from: self.boxed(levels), to: operand },
            3 => Expression::Extract { unit, operand },
            4 => {
                let side =
                    self.pick(&[TrimSide::Leading, TrimSide::Trailing, TrimSide::Both, TrimSide::Unsaid]);
                let remove = if self.chance() { Some(self.boxed(levels)) } else { None };
                Expression::Trim { side, remove, operand }
            }
            5 => {
                let charset = self.pick(&[None, Some("LATIN1".to_owned())]);
                Expression::Char { arguments: self.several(levels, 1), charset }
            }
            6 => {
                let shapes =
                    [None, Some(WeightStringShape::Binary(3)), Some(WeightStringShape::Characters(3))];
                Expression::WeightString { operand, shape: self.pick(&shapes) }
            }
            7 => Expression::Odbc { name: "x".to_owned(), operand },
            8 => Expression::Default(Some(ColumnReference::unqualified("a"))),
            _ => self.json_value(*operand),
        }
    }

    fn json_value(&mut self, document: Expression) -> Expression {
        let minus = Expression::Unary {
            operator: UnaryOperator::Minus,
            operand: Box::new(Expression::Literal(Literal::Integer(5))),
        };
        let reactions =
            [None, Some(JsonReaction::Null), Some(JsonReaction::Error), Some(JsonReaction::Default(minus))];
        let returning = if self.chance() { Some(self.target()) } else { None };
        let (on_empty, on_error) = (self.pick(&reactions), self.pick(&reactions));
        let path = b"$.\"a'b\"".to_vec();
        Expression::JsonValue(Box::new(JsonValue { document, path, returning, on_empty, on_error }))
    }

    fn cast_or_case(&mut self, levels: u32) -> Expression {
        let operand = self.boxed(levels);
        match self.below(3) {
            0 => {
                let time_zone = self.pick(&[None, None, Some(b"+00:00".to_vec())]);
                let target = match time_zone {
                    Some(_) => CastTarget::DateTime { decimals: self.pick(&[None, Some(3)]) },
                    None => self.target(),
                };
                let array = time_zone.is_none() && self.below(8) == 0;
                Expression::Cast(Box::new(CastExpression { operand, target, array, time_zone }))
            }
            1 => Expression::ConvertUsing { operand, charset: "utf8".to_owned() },
            _ => {
                let when = self.expression(levels);
                let branches = vec![CaseBranch { when, then: self.expression(levels) }];
                let otherwise = if self.chance() { Some(self.boxed(levels)) } else { None };
                let operand = if self.chance() { Some(operand) } else { None };
                Expression::Case { operand, branches, otherwise }
            }
        }
    }

    fn target(&mut self) -> CastTarget {
        let length = self.pick(&[None, Some(0), Some(5)]);
        let charset = self.pick(&[None, Some("latin1".to_owned()), Some("binary".to_owned())]);
        let national = charset.is_none() && self.chance();
        self.pick(&[
            CastTarget::Signed,
            CastTarget::Unsigned,
            CastTarget::Char { length, charset, national },
            CastTarget::Binary { length },
            CastTarget::Date,
            CastTarget::Time { decimals: length },
            CastTarget::DateTime { decimals: length },
            CastTarget::Decimal { digits: length, scale: None },
            CastTarget::Float { precision: Some(53) },
            CastTarget::Float { precision: None },
            CastTarget::Double,
            CastTarget::Real,
            CastTarget::Year,
            CastTarget::Json,
            CastTarget::Geometry("geomcollection".to_owned()),
        ])
    }
}

const TEXTS: &[&[u8]] =
    &[b"", b"x", b"it's \\ \"", b"\0\n\r\t\x1a\x08", "größe😀".as_bytes(), b"\xe9\xff", b"`%_"];

/// Names with a number of arguments: plain ones, and those that become something else.
const FUNCTIONS: &[(&str, u64)] = &[
    ("abs", 1),
    ("concat", 3),
    ("date", 1),
    ("time", 1),
    ("timestamp", 1),
    ("timestamp", 2),
    ("datediff", 2),
    ("from_unixtime", 2),
    ("instr", 2),
    ("bin", 1),
    ("oct", 1),
    ("json_length", 2),
    ("round", 1),
    ("week", 1),
    ("yearweek", 1),
    ("weekofyear", 1),
    ("mod", 2),
    ("isnull", 1),
    ("ISNULL", 1),
    ("mid", 3),
    ("now", 0),
    ("current_user", 0),
    ("interval", 3),
    ("if", 3),
    ("left", 2),
    ("repeat", 2),
    ("strcmp", 2),
    ("st_isempty", 1),
    ("json_valid", 1),
    ("st_latfromgeohash", 1),
    ("geometrycollection", 0),
    ("atan2", 2),
];
