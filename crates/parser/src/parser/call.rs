//! Calls: functions with a syntax of their own, aggregates, and everything else that is `name(arguments)`.

use super::*;
use Keyword as K;
use TokenKind as T;

/// Functions whose parenthesis must follow at once, unless sql_mode has IGNORE_SPACE.
const UNSPACED: &[&str] = &[
    "adddate",
    "bit_and",
    "bit_or",
    "bit_xor",
    "cast",
    "count",
    "curdate",
    "curtime",
    "date_add",
    "date_sub",
    "extract",
    "group_concat",
    "json_arrayagg",
    "json_objectagg",
    "max",
    "mid",
    "min",
    "now",
    "position",
    "session_user",
    "st_collect",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "subdate",
    "substr",
    "substring",
    "sum",
    "sysdate",
    "system_user",
    "trim",
    "var_pop",
    "var_samp",
    "variance",
];

/// Longer names are no function of ours.
const FUNCTION_NAME_BYTES_MAX: usize = 32;

impl Parser<'_> {
    /// `name(`, where the name is not reserved.
    #[inline(never)]
    pub(super) fn named_call(&mut self) -> SqlResult<Expression> {
        let token = self.token();
        let text = self.text_of(token);
        let mut buffer = [0; FUNCTION_NAME_BYTES_MAX];
        let lower: &str = match buffer.get_mut(..text.len()) {
            Some(lower) if token.kind != T::QuotedName => {
                lower.copy_from_slice(text);
                lower.make_ascii_lowercase();
                std::str::from_utf8(lower).unwrap_or_default()
            }
            _ => "",
        };
        let spaced = self.tokens[self.at + 1].start != token.end && !self.options.ignore_space;
        if spaced && UNSPACED.contains(&lower) {
            return self.plain_call(true);
        }
        if lower == "found_rows" && self.kind_at(1) == T::OpenParenthesis {
            self.deprecate(Deprecation::FoundRows);
        }
        match self.special_call(lower)? {
            Some(expression) => Ok(expression),
            None => self.plain_call(false),
        }
    }

    /// `name(arguments)`.
    #[inline(never)]
    fn plain_call(&mut self, spaced: bool) -> SqlResult<Expression> {
        let name = self.any_word()?;
        let arguments = self.call_arguments()?;
        Ok(Expression::Function(FunctionCall { schema: None, name, arguments, spaced }))
    }

    /// `(a, b)`; loadable functions may name their arguments with AS.
    #[inline(never)]
    pub(super) fn call_arguments(&mut self) -> SqlResult<Vec<Expression>> {
        self.expect_kind(T::OpenParenthesis)?;
        if self.accept_kind(T::CloseParenthesis) {
            return Ok(Vec::new());
        }
        let arguments = self.list(|parser| {
            let argument = parser.expression()?;
            parser.optional_alias()?;
            Ok(argument)
        })?;
        self.expect_kind(T::CloseParenthesis)?;
        Ok(arguments)
    }

    /// A call that does not look like a list of arguments; None without moving where it is plain.
    #[inline(never)]
    fn special_call(&mut self, lower: &str) -> SqlResult<Option<Expression>> {
        if let Some(kind) = aggregate_kind(lower) {
            return self.aggregate(kind).map(Some);
        }
        Ok(Some(match lower {
            "cast" => self.cast_operand()?,
            "extract" => self.extract()?,
            "trim" => self.trim()?,
            "position" => self.position()?,
            "substring" | "substr" | "mid" => return self.substring(),
            "date_add" | "date_sub" | "adddate" | "subdate" => return self.date_arithmetic(lower),
            "timestampadd" => self.timestamp_add()?,
            "timestampdiff" => self.timestamp_diff()?,
            "get_format" => self.get_format()?,
            "weight_string" => self.weight_string()?,
            "json_value" => self.json_value()?,
            _ => return Ok(None),
        }))
    }

    /// Reserved words that are functions or values.
    #[inline(never)]
    pub(super) fn reserved_call(&mut self, word: Keyword) -> SqlResult<Expression> {
        let called = self.kind_at(1) == T::OpenParenthesis;
        match word {
            K::If
            | K::Left
            | K::Right
            | K::Replace
            | K::Insert
            | K::Repeat
            | K::Mod
            | K::Database
            | K::Schema
                if called =>
            {
                self.plain_call(false)
            }
            K::CurrentUser
            | K::CurrentDate
            | K::CurrentTime
            | K::CurrentTimestamp
            | K::Localtime
            | K::Localtimestamp
            | K::UtcDate
            | K::UtcTime
            | K::UtcTimestamp => {
                let name = self.any_word()?;
                let arguments = if called { self.call_arguments()? } else { Vec::new() };
                Ok(Expression::call(&name, arguments))
            }
            K::Char if called => self.char_call(),
            K::Grouping if called => {
                self.advance();
                Ok(Expression::Grouping(self.parenthesised_list(Self::expression)?))
            }
            _ => self.window_function(word),
        }
    }

    #[inline(never)]
    fn aggregate(&mut self, kind: AggregateKind) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let mut call = AggregateCall {
            kind,
            distinct: self.accept_any(&[K::Distinct, K::Distinctrow]).is_some(),
            arguments: Vec::new(),
            order_by: Vec::new(),
            absent_on_null: false,
            separator: None,
            over: None,
        };
        if !call.distinct {
            self.accept(K::All);
        }
        let star = kind == AggregateKind::Count && !call.distinct && self.accept_kind(T::Star);
        if !star {
            call.arguments = self.expression_list()?;
            self.check_aggregate_arguments(&call)?;
        }
        if kind == AggregateKind::GroupConcat {
            call.order_by = self.optional_order_by()?;
            if self.accept(K::Separator) {
                call.separator = Some(self.string_or_bytes()?);
            }
        }
        if kind == AggregateKind::JsonArrayagg
            && let Some(word) = self.accept_any(&[K::Null, K::Absent])
        {
            self.expect_all(&[K::On, K::Null])?;
            call.absent_on_null = word == K::Absent;
        }
        self.expect_kind(T::CloseParenthesis)?;
        call.over = self.optional_over()?;
        Ok(Expression::Aggregate(Box::new(call)))
    }

    fn check_aggregate_arguments(&self, call: &AggregateCall) -> SqlResult<()> {
        use AggregateKind as A;
        let allowed = match call.kind {
            A::GroupConcat => true,
            A::Count => call.distinct || call.arguments.len() == 1,
            A::JsonObjectagg => call.arguments.len() == 2,
            _ => call.arguments.len() == 1,
        };
        let distinct_allowed =
            matches!(call.kind, A::Count | A::Sum | A::Avg | A::Min | A::Max | A::GroupConcat | A::StCollect);
        if allowed && (distinct_allowed || !call.distinct) { Ok(()) } else { self.fail() }
    }

    #[inline(never)]
    fn char_call(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let arguments = self.expression_list()?;
        let charset = if self.accept(K::Using) { Some(self.charset_name()?) } else { None };
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::Char { arguments, charset })
    }

    #[inline(never)]
    fn extract(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let unit = self.interval_unit()?;
        self.expect(K::From)?;
        let operand = Box::new(self.expression()?);
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::Extract { unit, operand })
    }

    #[inline(never)]
    fn trim(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let side = match self.accept_any(&[K::Leading, K::Trailing, K::Both]) {
            Some(K::Leading) => Some(TrimSide::Leading),
            Some(K::Trailing) => Some(TrimSide::Trailing),
            Some(_) => Some(TrimSide::Both),
            None => None,
        };
        let mut remove = None;
        let operand = if side.is_some() && self.accept(K::From) {
            self.expression()?
        } else {
            let first = self.expression()?;
            if self.accept(K::From) {
                remove = Some(Box::new(first));
                self.expression()?
            } else if side.is_some() {
                return self.fail();
            } else {
                first
            }
        };
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::Trim { side: side.unwrap_or(TrimSide::Both), remove, operand: Box::new(operand) })
    }

    #[inline(never)]
    fn position(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let needle = self.bit_expression()?;
        self.expect(K::In)?;
        let haystack = self.expression()?;
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::call("locate", vec![needle, haystack]))
    }

    /// `SUBSTRING(a FROM b FOR c)` and `SUBSTRING(a, b, c)`.
    #[inline(never)]
    fn substring(&mut self) -> SqlResult<Option<Expression>> {
        let name = self.any_word()?;
        self.expect_kind(T::OpenParenthesis)?;
        let mut arguments = vec![self.expression()?];
        if self.accept(K::From) {
            arguments.push(self.expression()?);
            if self.accept(K::For) {
                arguments.push(self.expression()?);
            }
        } else {
            self.expect_kind(T::Comma)?;
            arguments.push(self.expression()?);
            if self.accept_comma() {
                arguments.push(self.expression()?);
            }
        }
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Some(Expression::call(&name, arguments)))
    }

    /// `DATE_ADD(a, INTERVAL b unit)`; ADDDATE and SUBDATE also take days.
    #[inline(never)]
    fn date_arithmetic(&mut self, lower: &str) -> SqlResult<Option<Expression>> {
        let subtract = lower.starts_with("sub") || lower.ends_with("sub");
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let operand = Box::new(self.expression()?);
        self.expect_kind(T::Comma)?;
        let is_interval = self.at_interval();
        if !is_interval && lower.starts_with("date") {
            return self.fail();
        }
        if is_interval {
            self.advance();
        }
        let amount = Box::new(self.expression()?);
        let unit = if is_interval { self.interval_unit()? } else { IntervalUnit::Day };
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Some(Expression::DateArithmetic { operand, amount, unit, subtract }))
    }

    #[inline(never)]
    fn timestamp_add(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let unit = self.simple_interval_unit()?;
        self.expect_kind(T::Comma)?;
        let amount = Box::new(self.expression()?);
        self.expect_kind(T::Comma)?;
        let operand = Box::new(self.expression()?);
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::TimestampAdd { unit, amount, operand })
    }

    #[inline(never)]
    fn timestamp_diff(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let unit = self.simple_interval_unit()?;
        self.expect_kind(T::Comma)?;
        let from = Box::new(self.expression()?);
        self.expect_kind(T::Comma)?;
        let to = Box::new(self.expression()?);
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::TimestampDiff { unit, from, to })
    }

    /// A unit of one word.
    fn simple_interval_unit(&mut self) -> SqlResult<IntervalUnit> {
        let token = self.token();
        let unit = self.interval_unit()?;
        if unit.name().contains('_') { Err(self.syntax_error_at(token)) } else { Ok(unit) }
    }

    /// `GET_FORMAT(DATE, 'EUR')`: the type becomes a string.
    #[inline(never)]
    fn get_format(&mut self) -> SqlResult<Expression> {
        let name = self.any_word()?;
        self.expect_kind(T::OpenParenthesis)?;
        let kind = match self.expect_any(&[K::Date, K::Time, K::Datetime, K::Timestamp])? {
            K::Date => "DATE",
            K::Time => "TIME",
            _ => "DATETIME",
        };
        self.expect_kind(T::Comma)?;
        let region = self.expression()?;
        self.expect_kind(T::CloseParenthesis)?;
        let kind = Expression::Literal(Literal::String { bytes: kind.as_bytes().to_vec(), introducer: None });
        Ok(Expression::call(&name, vec![kind, region]))
    }

    #[inline(never)]
    fn weight_string(&mut self) -> SqlResult<Expression> {
        self.advance();
        self.expect_kind(T::OpenParenthesis)?;
        let operand = Box::new(self.expression()?);
        let mut shape = None;
        if self.accept_comma() {
            // WEIGHT_STRING(a, levels, bytes, flags): the older form, without meaning of its own.
            self.list(Self::number)?;
        } else if self.accept(K::As) {
            let binary = self.expect_any(&[K::Char, K::Binary])? == K::Binary;
            shape = Some(WeightStringShape { binary, length: self.parenthesised(Self::plain_number)? });
        }
        self.expect_kind(T::CloseParenthesis)?;
        Ok(Expression::WeightString { operand, shape })
    }
}

fn aggregate_kind(lower: &str) -> Option<AggregateKind> {
    use AggregateKind as A;
    Some(match lower {
        "count" => A::Count,
        "sum" => A::Sum,
        "avg" => A::Avg,
        "min" => A::Min,
        "max" => A::Max,
        "group_concat" => A::GroupConcat,
        "bit_and" => A::BitAnd,
        "bit_or" => A::BitOr,
        "bit_xor" => A::BitXor,
        "std" | "stddev" | "stddev_pop" => A::StddevPop,
        "stddev_samp" => A::StddevSamp,
        "variance" | "var_pop" => A::VarPop,
        "var_samp" => A::VarSamp,
        "json_arrayagg" => A::JsonArrayagg,
        "json_objectagg" => A::JsonObjectagg,
        "st_collect" => A::StCollect,
        _ => return None,
    })
}
