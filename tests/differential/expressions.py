"""Random expressions: functions and operators with the kinds of arguments they are made for, a share of them wild.
Main type: Expressions. Kinds are those of literals.py."""
from literals import ANY, LITERALS

# name: kinds of its arguments. Several letters in one word: one of them; `*` after a word: once more, up to three times;
# `?`: may be missing. N = number, A = anything, P = a moment (date, date and time, time, text).
GROUPS = {"N": "iiddf", "A": ANY, "P": "DSDSTs", "W": "sssx", "Z": "DSs"}
FUNCTIONS = """
ABS N|ACOS N|ASIN N|ATAN N|ATAN N N|ATAN2 N N|CEIL N|CEILING N|COS N|COT N|CRC32 W|DEGREES N|EXP N|FLOOR N|LN N|LOG N|LOG N N|LOG10 N|LOG2 N
MOD N N|POW N i|POWER N i|RADIANS N|ROUND N|ROUND N i|SIGN N|SIN N|SQRT N|TAN N|TRUNCATE N i|CONV sib i i|BIN ib|OCT ib|HEX A|UNHEX s
ASCII W|BIT_LENGTH W|CHAR i i*|CHAR_LENGTH W|CHARACTER_LENGTH W|CONCAT A A*|CONCAT_WS s A A*|ELT i A A*|EXPORT_SET i s s s? i?|FIELD A A A*
FIND_IN_SET s s|FORMAT N i|FROM_BASE64 s|INSERT s i i s|INSTR W W|LCASE s|LEFT W i|LENGTH W|LOCATE W W|LOCATE W W i|LOWER W|LPAD s i s|LTRIM s
MAKE_SET i s s*|MID s i i|MID s i|OCTET_LENGTH W|ORD W|QUOTE A|REPEAT s i|REPLACE s s s|REVERSE s|RIGHT W i|RPAD s i s|RTRIM s|SOUNDEX s|SPACE i
STRCMP A A|SUBSTR s i|SUBSTR W i i|SUBSTRING s i i|SUBSTRING_INDEX s s i|TO_BASE64 W|TRIM s|UCASE s|UPPER W|WEIGHT_STRING s
REGEXP_LIKE s s|REGEXP_INSTR s s|REGEXP_REPLACE s s s|REGEXP_SUBSTR s s
ADDDATE Z i|ADDTIME P T|DATE P|DATEDIFF Z Z|DATE_FORMAT Z s|DAY Z|DAYNAME Z|DAYOFMONTH Z|DAYOFWEEK Z|DAYOFYEAR Z|FROM_DAYS i|FROM_UNIXTIME N
FROM_UNIXTIME i s|HOUR P|LAST_DAY Z|MAKEDATE i i|MAKETIME i i N|MICROSECOND P|MINUTE P|MONTH Z|MONTHNAME Z|PERIOD_ADD i i|PERIOD_DIFF i i
QUARTER Z|SECOND P|SEC_TO_TIME N|STR_TO_DATE s s|SUBDATE Z i|SUBTIME P T|TIME P|TIMEDIFF P P|TIMESTAMP Z|TIMESTAMP Z T|TIME_FORMAT P s|TIME_TO_SEC P
TO_DAYS Z|TO_SECONDS Z|UNIX_TIMESTAMP Z|WEEK Z|WEEK Z i|WEEKDAY Z|WEEKOFYEAR Z|YEAR Z|YEARWEEK Z|YEARWEEK Z i
COALESCE A A*|GREATEST A A A*|LEAST A A A*|IF A A A|IFNULL A A|NULLIF A A|ISNULL A|INTERVAL N N N*|BIT_COUNT ibx|INET_ATON s|INET_NTOA i|INET6_ATON s|INET6_NTOA x
IS_IPV4 s|IS_IPV6 s|IS_UUID s|UUID_TO_BIN s|BIN_TO_UUID x|SHA2 W i|UNCOMPRESSED_LENGTH x|CHARSET A|COLLATION A|COERCIBILITY A|ANY_VALUE A|
FORMAT_BYTES N|FORMAT_PICO_TIME N|
""".replace("\n", "|").split("|")
FUNCTIONS = [line.split() for line in FUNCTIONS if line]
UNITS = ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "SECOND_MICROSECOND", "MINUTE_SECOND",
         "HOUR_MINUTE", "DAY_HOUR", "YEAR_MONTH", "DAY_SECOND", "HOUR_MICROSECOND"]
CASTS = ["SIGNED", "UNSIGNED", "CHAR", "CHAR(3)", "BINARY", "BINARY(4)", "DATE", "TIME", "TIME(3)", "DATETIME", "DATETIME(6)", "DECIMAL", "DECIMAL(10,2)",
         "DECIMAL(5,5)", "DOUBLE", "FLOAT", "YEAR", "CHAR CHARACTER SET latin1", "CHAR CHARACTER SET utf8mb4"]
SETS = ["utf8mb4", "latin1", "binary", "ascii", "utf16", "sjis"]
OPERATORS = ["+", "-", "*", "/", "DIV", "%", "=", "<", ">", "<=", ">=", "<>", "<=>", "AND", "OR", "XOR", "&", "|", "^", "<<", ">>"]


class Expressions:
    """Makes expressions from `random`. `columns` maps a kind to names that may stand where a literal of it may."""

    def __init__(self, random, columns=None, wild=0.15):
        self.random, self.columns, self.wild = random, columns or {}, wild

    def leaf(self, kind):
        names = self.columns.get(kind)
        if names and self.random.random() < 0.6:
            return self.random.choice(names)
        return self.random.choice(LITERALS[kind])

    def of(self, kinds, depth):
        """An expression that suits one of `kinds`."""
        kind = self.random.choice(GROUPS.get(kinds, kinds))
        if self.random.random() < self.wild:
            kind = self.random.choice(ANY)
        if depth <= 0 or self.random.random() < 0.45:
            return self.leaf(kind)
        return self.nested(depth - 1)

    def function(self, depth):
        name, *words = self.random.choice(FUNCTIONS)
        arguments = []
        for word in words:
            if word.endswith("?") and self.random.random() < 0.5:
                break
            count = self.random.randint(0, 3) if word.endswith("*") else 1
            arguments += [self.of(word.rstrip("*?"), depth) for _ in range(count)]
        return f"{name}({', '.join(arguments)})"

    def nested(self, depth):
        """An operator, a special form or a function."""
        form = self.random.randrange(20)
        any_of = lambda: self.of("A", depth)  # noqa: E731
        if form < 4:
            return f"({any_of()} {self.random.choice(OPERATORS)} {any_of()})"
        if form == 4:
            return f"CAST({any_of()} AS {self.random.choice(CASTS)})"
        if form == 5:
            return f"({any_of()} {self.random.choice(['BETWEEN', 'NOT BETWEEN'])} {any_of()} AND {any_of()})"
        if form == 6:
            return f"({any_of()} {self.random.choice(['IN', 'NOT IN'])} ({', '.join(any_of() for _ in range(self.random.randint(1, 4)))}))"
        if form == 7:
            word = self.random.choice(["LIKE", "NOT LIKE", "REGEXP"])
            return f"({self.of('W', depth)} {word} {self.of('s', depth)})"
        if form == 8:
            otherwise = f" ELSE {any_of()}" if self.random.random() < 0.7 else ""
            return f"CASE WHEN {any_of()} THEN {any_of()} WHEN {any_of()} THEN {any_of()}{otherwise} END"
        if form == 9:
            return f"({self.random.choice(['-', 'NOT ', '~', '!', '+'])}{any_of()})"
        if form == 10:
            return f"({any_of()} {self.random.choice(['IS NULL', 'IS NOT NULL', 'IS TRUE', 'IS NOT FALSE', 'IS UNKNOWN'])})"
        return self.special(form, depth) if form < 14 else self.function(depth)

    def special(self, form, depth):
        """Forms with a syntax of their own."""
        if form == 11:
            sign, unit = self.random.choice(["+", "-"]), self.random.choice(UNITS)
            return f"({self.of('P', depth)} {sign} INTERVAL {self.of('is', depth)} {unit})"
        if form == 12:
            unit = self.random.choice(UNITS)
            if self.random.random() < 0.5:
                return f"EXTRACT({unit} FROM {self.of('P', depth)})"
            return f"TIMESTAMPDIFF({self.random.choice(UNITS[:9])}, {self.of('Z', depth)}, {self.of('Z', depth)})"
        if self.random.random() < 0.5:
            return f"CONVERT({self.of('W', depth)} USING {self.random.choice(SETS)})"
        return f"TRIM({self.random.choice(['BOTH', 'LEADING', 'TRAILING'])} {self.of('s', depth)} FROM {self.of('s', depth)})"
