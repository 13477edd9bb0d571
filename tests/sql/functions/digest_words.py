"""Which numbers and texts MySQL gives the words of its grammar in digests: writes crates/functions/src/generated/digest_words.rs.

    digest_words.py HOST:PORT        a MySQL 9.7; takes a minute

A digest is SHA-256 over the numbers of a statement's tokens. Statements of tests/sql and patterns for each word are digested by the server; one
that has a single token of unknown number tells it, because there are few numbers to try. Two or three unknown ones are found where the words beside
them in the alphabet are known: most numbers go with the alphabet. What literals become is in crates/functions/src/statement_digest."""
import collections
import hashlib
import itertools
import pathlib
import re
import struct
import sys

import pymysql

ROOT = pathlib.Path(__file__).resolve().parents[3]
KEYWORDS = ROOT / "crates/parser/src/generated/keyword.rs"
OUTPUT = ROOT / "crates/functions/src/generated/digest_words.rs"
SCHEMA = "digest_words"
STATEMENT_CHARACTERS_MAX = 700
# Tokens are numbered from 258; those of the first grammar end at 905, later ones follow.
NUMBERS = range(258, 1400)
FIRST_GRAMMAR_LAST = 905
TRIES_MAX = 3_000_000
# Words that are functions only before a parenthesis that follows at once.
UNSPACED = set("""adddate bit_and bit_or bit_xor cast count curdate curtime date_add date_sub extract group_concat json_arrayagg json_objectagg
max mid min now position session_user std stddev stddev_pop stddev_samp subdate substr substring sum sysdate system_user trim variance var_pop
var_samp st_collect""".upper().split())
BEFORE_SIGNED = set("""SELECT WHEN THEN ELSE CASE AND OR XOR INTERVAL LIKE BETWEEN DEFAULT RLIKE REGEXP EVERY DIV MOD RETURN IF NOT AT STARTS ENDS
ELSEIF WHILE UNTIL""".split())
BEFORE_NULL = BEFORE_SIGNED | set("FROM KILL WHERE HAVING ON BY LIMIT IN VALUES ALL DISTINCT ESCAPE DO BOTH LEADING TRAILING FOR ROW UNION DISTINCTROW".split())
BEHIND_LISTS = set("LIMIT HAVING WITH WINDOW ROWS RANGE GROUPS FOR INTO LOCK UNION EXCEPT INTERSECT SEPARATOR ON SET VALUES WHERE SELECT".split())
OPERATORS = set("DIV MOD AND OR XOR IS IN LIKE BETWEEN REGEXP RLIKE NOT COLLATE MEMBER SOUNDS".split())
PATTERNS = ["select {} from t", "select {}(1) from t", "select {}", "{}", "select {}()", "set {} = 1", "show {}", "create table t (a {})", "alter table t {}"]
# For words that no test has.
STATEMENTS = """create trigger tr before insert on t for each row set @a = 1
create function f() returns int deterministic return 1
create procedure p() reads sql data begin end
create procedure p() modifies sql data sql security invoker begin end
create procedure p(in a int, out b int, inout c int) begin end
create procedure p() begin declare x cursor for select 1; open x; end
create procedure p() begin declare c condition for sqlstate '45000'; end
create procedure p() begin declare continue handler for sqlexception begin end; end
create procedure p() begin declare exit handler for sqlwarning begin end; end
create procedure p() begin declare y int; declare x cursor for select 1; open x; fetch x into y; close x; end
create procedure p() l: while 1 do leave l; end while
create procedure p() l: loop iterate l; end loop
create procedure p() if a then select 1; elseif b then select 2; end if
create procedure p() repeat set @a = 1; until 1 end repeat
call p(1)
insert low_priority into t values (1)
insert delayed into t values (1)
drop procedure p
drop function f
drop trigger tr
select a from t order by a asc
select * from t inner join t u
create fulltext index i on t(a)
create spatial index i on t(a)
grant usage on *.* to a
purge binary logs to 'x'
get diagnostics @a = number
signal sqlstate '45000'
create table q (a int) partition by range (a) (partition p values less than maxvalue)
create table q (a int) partition by linear hash (a)
alter user a require ssl
load data infile 'x' into table t lines starting by 'x'
flush optimizer_costs
optimize no_write_to_binlog table t
create table q (a character varying(3))
create table q (a varcharacter(3))
drop undo tablespace u
select * from t tablesample system (10)
select case when 1 then 1 else 2 end""".split("\n")

TOKEN = re.compile(r"""
 (?P<blank>\s+|\#[^\n]*|--(?=[\s]|$)[^\n]*|/\*(?![!+]).*?\*/)
|(?P<text>N?'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|[xX]'[0-9a-fA-F]*'|[bB]'[01]*')
|(?P<quoted>`(?:[^`]|``)*`)
|(?P<variable>@(?!@)(?:'(?:[^']|'')*'|"[^"]*"|`[^`]*`|[\w.$\u0080-\uffff]*))
|(?P<number>0[xX][0-9a-fA-F]+\b|0b[01]+\b|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w$\u0080-\uffff]))
|(?P<word>[\w$\u0080-\uffff]+)
|(?P<sign><=>|->>|->|:=|<>|!=|<=|>=|<<|>>|&&|\|\||@@|.)
""", re.X | re.S)


def words_of_grammar():
    return set(re.findall(r'\("([A-Z_0-9]+)", Keyword::\w+\)', KEYWORDS.read_text()))


def tokens_of(statement, words):
    """The tokens of a statement: literals are V, signs P, words K, names I; None for what this reader does not know."""
    tokens, at = [], 0
    while at < len(statement):
        found = TOKEN.match(statement, at)
        kind, text = found.lastgroup, found[0]
        at = found.end()
        if kind == "blank":
            continue
        if text.startswith("/*"):
            return None
        behind_point = bool(tokens) and tokens[-1] == ("P", ".") and statement[found.start() - 1] == "."
        if kind == "number" and behind_point:
            kind = "word"
        if kind == "word":
            before_point = re.match(r"\.[\w$`\u0080-\uffff]", statement[at:at + 2]) and not (tokens and tokens[-1] == ("P", "@@"))
            word = text.upper()
            is_call = statement[at:at + 1] == "("
            if not behind_point and not before_point and (word in UNSPACED and is_call or word not in UNSPACED and word in words):
                tokens.append(("K", word))
            elif re.match(r"^_(utf8(mb[34])?|latin[1257]|binary|ucs2|utf16(le)?|utf32|ascii|big5|euckr|gb18030|gb2312|gbk|cp932|eucjpms|sjis|ujis)$", text) and not behind_point:
                tokens.append(("CHARSET",))
            else:
                tokens.append(("I", text))
        elif kind == "quoted":
            tokens.append(("I", text[1:-1].replace("``", "`")))
        elif kind in ("text", "number"):
            tokens.append(("V", text))
        elif kind == "variable":
            tokens.append(("@", text))
        elif text == ";" and not statement[at:].strip():
            break
        else:
            tokens.append(("P", text))
    return tokens


def is_list(item):
    return item in (("VALUE",), ("VALUES",))


def stands_before(token, words):
    return token[0] == "P" and token[1] not in (")", ".", "@") or token[0] == "K" and token[1] in words


def ends_position(following):
    return following is None or following in (("P", ","), ("P", ")")) or following[0] == "K" and following[1] not in OPERATORS


def reduced(tokens):
    """The items of a digest: what statement_digest/items.rs makes of the same tokens."""
    items, lists = [], [False]
    for at, token in enumerate(tokens):
        kind = token[0]
        if token == ("P", "("):
            lists.append(False)
        elif token == ("P", ")") and len(lists) > 1:
            lists.pop()
        elif token == ("K", "BY"):
            lists[-1] = True
        elif kind == "K" and token[1] in BEHIND_LISTS:
            lists[-1] = False
        if token == ("K", "NULL"):
            before = at - 1
            while before > 0 and tokens[before] in (("K", "NOT"), ("K", "BINARY")):
                before -= 1
            kind = "V" if stands_before(tokens[before], BEFORE_NULL) else kind
        if kind == "@":
            items.append(("P", "@"))
            if token[1][1:2] == "`":
                items.append(("I", token[1][2:-1].replace("``", "`")))
                continue
            kind = "V"
        if kind == "V":
            is_number = token[0] == "V" and token[1][0] not in "'\"nN"
            while is_number and items and items[-1] in (("P", "-"), ("P", "+")):
                if len(items) > 1 and not (stands_before(items[-2], BEFORE_SIGNED) and items[-2] not in (("P", "~"), ("P", "!"), ("P", ":="))):
                    break
                items.pop()
            number = int(token[1]) if is_number and token[1].isdigit() else 0
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            if len(items) > 1 and items[-1] == ("P", ",") and is_list(items[-2]):
                items[-2:] = [("VALUES",)]
            elif 0 < number < 1 << 32 and lists[-1] and items and items[-1] in (("P", ","), ("K", "BY")) and ends_position(following):
                items.append(("POSITION", number))
            else:
                items.append(("VALUE",))
        elif token == ("P", ")") and len(items) > 1 and is_list(items[-1]) and items[-2] == ("P", "("):
            one, several = (("ROW1",), ("ROWS1",)) if items[-1] == ("VALUE",) else (("ROW",), ("ROWS",))
            del items[-2:]
            if items and items[-1] == ("K", "IN"):
                items[-1] = ("IN",)
            elif len(items) > 1 and items[-1] == ("P", ",") and items[-2] in (one, several):
                items[-2:] = [several]
            else:
                items.append(one)
        elif token == ("K", "ROLLUP") and items and items[-1] == ("K", "WITH"):
            items[-1] = ("ROLLUP",)
        elif token == ("P", "@@"):
            items += [("P", "@"), ("P", "@")]
        else:
            items.append(token)
    return items


SHOWN = {("VALUE",): "?", ("VALUES",): "?, ...", ("ROW1",): "(?)", ("ROWS1",): "(?) /* , ... */", ("ROW",): "(...)", ("ROWS",): "(...) /* , ... */",
         ("IN",): "IN (...)", ("CHARSET",): "(_charset)", ("ROLLUP",): "WITH ROLLUP", ("P", "<>"): "!="}
PARTS = re.compile(r"\?, \.\.\.|\(\.\.\.\) /\* , \.\.\. \*/|\(\?\) /\* , \.\.\. \*/|IN \(\.\.\.\)|\(\?\)|\(\.\.\.\)|\(_charset\)|`.*?`(?= |$)|@(?=[?`@])"
                   r"|WITH ROLLUP|[^ ]+", re.S)


def shown(items, texts):
    text = ""
    for item in items:
        if item == ("P", "@"):
            text += "@"
        elif item[0] == "I":
            text += "..." if len(item[1].encode()) > 64 else f"`{item[1]}` " if item[1] else ""
        elif item[0] == "K":
            text += texts.get(item[1], item[1]) + " "
        else:
            text += SHOWN.get(item, str(item[-1])) + " "
    return text.rstrip(" ")


def statements(words):
    for path in sorted((ROOT / "tests/sql").glob("*/*.test")):
        text = re.sub(r"^-- .*$", "", path.read_text(errors="replace"), flags=re.M)
        for statement in re.split(r";\s*\n", text):
            if 5 < len(statement.strip()) < STATEMENT_CHARACTERS_MAX and "/*" not in statement:
                yield statement.strip()
    yield from STATEMENTS
    yield from (pattern.format(word) for word in sorted(words) for pattern in PATTERNS)


def measured(address, words):
    """Items, text and digest of each statement that the server parses."""
    host, port = address.split(":")
    connection = pymysql.connect(host=host, port=int(port), user="root", charset="utf8mb4")
    cursor, found = connection.cursor(), []
    cursor.execute(f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
    cursor.execute(f"USE {SCHEMA}")
    for statement in dict.fromkeys(statements(words)):
        tokens = tokens_of(statement, words)
        if not tokens:
            continue
        try:
            cursor.execute("SELECT STATEMENT_DIGEST_TEXT(%s), STATEMENT_DIGEST(%s)", (statement, statement))
        except pymysql.Error:
            continue
        found.append((reduced(tokens), *cursor.fetchone()))
    cursor.execute(f"DROP DATABASE {SCHEMA}")
    return found


def learned_texts(found):
    votes = collections.defaultdict(collections.Counter)
    for items, text, _ in found:
        parts = PARTS.findall(text)
        if len(parts) == len(items):
            for item, part in zip(items, parts):
                if item[0] == "K" and not part.startswith("`"):
                    votes[item[1]][part] += 1
    return {word: texts.most_common(1)[0][0] for word, texts in votes.items()}


class Solver:
    """Finds the numbers of tokens."""

    def __init__(self, found, texts):
        self.texts, self.numbers = texts, {("P", sign): ord(sign) for sign in "+-*/%^&|~!(),.{}:;@"}
        self.found = sorted(((items, digest) for items, _, digest in found if len(items) < 200), key=lambda one: len(one[0]))

    def key(self, item):
        if item[0] == "K":
            return ("K", self.texts.get(item[1], item[1]))
        return ("P", "!=") if item == ("P", "<>") else item if item[0] == "P" else (item[0],)

    def hashed(self, items, numbers):
        bytes_ = b""
        for item in items:
            number = numbers[self.key(item)]
            if item[0] == "I":
                name = item[1].encode()
                part = struct.pack("<HH", number, len(name)) + name
            else:
                part = struct.pack("<HI", number, item[1]) if item[0] == "POSITION" else struct.pack("<H", number)
            if len(bytes_) + len(part) > 1024:
                break
            bytes_ += part
        return hashlib.sha256(bytes_).hexdigest()

    def candidates(self, key):
        known = [(word[1], number) for word, number in self.numbers.items() if word[0] == "K" and number <= FIRST_GRAMMAR_LAST and " " not in word[1]]
        low = max([number for word, number in known if key[0] == "K" and word < key[1]], default=None)
        high = min([number for word, number in known if key[0] == "K" and word > key[1]], default=None)
        return range(low - 6, high + 7) if low is not None and high is not None and low < high else NUMBERS

    def solve(self, items, digest, unknown):
        ranges = [NUMBERS if len(unknown) == 1 else self.candidates(key) for key in unknown]
        tries = 1
        for candidates in ranges:
            tries *= len(candidates)
        if tries > TRIES_MAX:
            return False
        numbers = dict(self.numbers)
        for chosen in itertools.product(*ranges):
            numbers.update(zip(unknown, chosen))
            if self.hashed(items, numbers) == digest:
                self.numbers.update(zip(unknown, chosen))
                return True
        return False

    def run(self):
        tried = set()
        for unknown_max in [1, 2, 1, 3] * 20:
            for number, (items, digest) in enumerate(self.found):
                unknown = tuple(dict.fromkeys(key for key in map(self.key, items) if key not in self.numbers))
                if unknown and len(unknown) <= unknown_max and (number, unknown) not in tried:
                    if len(unknown) == 1 or len(items) < 40:
                        tried.add((number, unknown))
                        if self.solve(items, digest, unknown) and unknown_max > 1:
                            break
        known = [(items, digest) for items, digest in self.found if all(self.key(item) in self.numbers for item in items)]
        return len(known), sum(self.hashed(items, self.numbers) != digest for items, digest in known)


def main():
    words = words_of_grammar()
    found = measured(sys.argv[1], words)
    texts = learned_texts(found)
    different = sum(shown(items, texts) != text for items, text, _ in found)
    solver = Solver(found, texts)
    hashed, wrong = solver.run()
    print(f"{len(found)} texts, {different} different; {hashed} digests, {wrong} different; signs and others:")
    print([(shown(items, texts), text) for items, text, _ in found if shown(items, texts) != text][:5])
    print({key: number for key, number in solver.numbers.items() if key[0] != "K"})
    lines = [(word, solver.numbers.get(("K", text)), text) for word, text in sorted(texts.items())]
    table = "".join(f'    ("{word}", {number}, "{text}"),\n' for word, number, text in lines if number)
    source = OUTPUT.read_text()
    OUTPUT.write_text(source[:source.index("pub static WORDS")] + "pub static WORDS: &[(&str, u16, &str)] = &[\n" + table + "];\n")


if __name__ == "__main__":
    main()
