#!/usr/bin/env python3
"""Writes the weight and case tables of crate `charset` by asking a MySQL server.

    python3 build.py [mysql client arguments]      e.g.  python3 build.py -h127.0.0.1 -P3397 -uroot

Every table is what MySQL itself answers: WEIGHT_STRING, LOWER and UPPER of each code point (or byte).
Only what differs from a rule (implicit weights, Hangul syllables, identity) is written; the rules are in
`src/weights.rs`. The formats are described in `data/README.md`.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CLIENT = ["mysql", "--quick", "-N", "-B", "--default-character-set=utf8mb4"] + sys.argv[1:]

CODE_POINTS = """
CREATE DATABASE IF NOT EXISTS charset_build; USE charset_build;
SET SESSION cte_max_recursion_depth = 2000000;
CREATE TABLE IF NOT EXISTS code_point (n INT PRIMARY KEY, c VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin);
INSERT IGNORE INTO code_point WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 1114111)
SELECT n, CONVERT(CONVERT(UNHEX(LPAD(HEX(n), 8, '0')) USING utf32) USING utf8mb4) FROM r WHERE n < 55296 OR n > 57343;
"""


def ask(sql):
    """Rows of a statement as lists of text."""
    answer = subprocess.run(CLIENT, input=sql.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split("\t") for line in answer.splitlines()]


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def zigzag(number):
    return varint(number * 2 if number >= 0 else -number * 2 - 1)


def weights(collation):
    """Code point -> list of levels, each a tuple of 16-bit weights."""
    rows = ask(f"SELECT n, HEX(WEIGHT_STRING(c COLLATE utf8mb4_{collation})) FROM charset_build.code_point ORDER BY n")
    table = {}
    for number, text in rows:
        words = [int(text[at : at + 4], 16) for at in range(0, len(text), 4)]
        levels = [[]]
        for word in words:
            # Only a collation of several levels has separators; U+0000 of general_ci has weight 0.
            if word == 0 and collation.endswith("_cs"):
                levels.append([])
            else:
                levels[-1].append(word)
        table[int(number)] = [tuple(level) for level in levels]
    return table


def uca_implicit(n):
    if 0x17000 <= n <= 0x18AFF:
        return (0xFB00, (n - 0x17000) | 0x8000)
    if 0x4E00 <= n <= 0x9FD5 or 0xFA0E <= n <= 0xFA29:
        base = 0xFB40
    elif (
        0x3400 <= n <= 0x4DB5
        or 0x20000 <= n <= 0x2A6D6
        or 0x2A700 <= n <= 0x2B734
        or 0x2B740 <= n <= 0x2B81D
        or 0x2B820 <= n <= 0x2CEA1
    ):
        base = 0xFB80
    else:
        base = 0xFBC0
    return (base + (n >> 15), (n & 0x7FFF) | 0x8000)


def old_implicit(n):
    """Versions 4.0.0 and 5.2.0 know fewer Han characters."""
    if 0x4E00 <= n <= 0x9FA5:
        base = 0xFB40
    elif 0x3400 <= n <= 0x4DB5:
        base = 0xFB80
    else:
        base = 0xFBC0
    return (base + (n >> 15), (n & 0x7FFF) | 0x8000)


def hangul(n, table):
    if not 0xAC00 <= n <= 0xD7A3:
        return None
    index = n - 0xAC00
    jamo = [0x1100 + index // 588, 0x1161 + index % 588 // 28]
    if index % 28:
        jamo.append(0x11A7 + index % 28)
    levels = len(table[0x1100])
    return [sum((table[j][level] for j in jamo), ()) for level in range(levels)]


def is_default(levels):
    """Whether levels 2 and 3 are the common weights, one for each weight of level 1."""
    count = len(levels[0])
    return levels[1:] == [(0x20,) * count, (0x02,) * count][: len(levels) - 1]


def weight_blob(table, implicit):
    out = bytearray()
    previous, last_weight = 0, 0
    for n, levels in sorted(table.items()):
        rule = implicit(n)
        levels_of_rule = [rule] + [(0x20,), (0x02,)][: len(levels) - 1]
        if levels == levels_of_rule or (len(levels) == 3 and levels == hangul(n, table)):
            continue
        default = is_default(levels)
        out += varint(n - previous)
        out.append(len(levels[0]) | (0 if default else 0x80))
        for weight in levels[0]:
            out += zigzag(weight - last_weight)
            last_weight = weight
        if not default:
            assert len(levels[1]) == len(levels[2])
            out += varint(len(levels[1]))
            for second, third in zip(levels[1], levels[2]):
                out += varint(second) + bytes([third])
        previous = n
    return bytes(out)


def case_blob(collation):
    rows = ask(
        f"""SELECT n, l, u FROM (SELECT n, HEX(CONVERT(c USING utf32)) h,
        HEX(CONVERT(LOWER(c COLLATE utf8mb4_{collation}) USING utf32)) l,
        HEX(CONVERT(UPPER(c COLLATE utf8mb4_{collation}) USING utf32)) u FROM charset_build.code_point) x
        WHERE h <> l OR h <> u ORDER BY n"""
    )
    out = bytearray()
    previous = 0
    for number, lower, upper in rows:
        n = int(number)
        # MySQL cuts a mapping that takes more bytes than the character; Unicode's own is meant.
        lower = int(lower, 16) if lower else ord(chr(n).lower())
        upper = int(upper, 16) if upper else ord(chr(n).upper())
        out += varint(n - previous) + zigzag(lower - n) + zigzag(upper - n)
        previous = n
    return bytes(out)


def single_byte_blobs():
    """One record a character set (name, Unicode, lower, upper) and one a collation (name, weights)."""
    charsets = [row[0] for row in ask("SELECT character_set_name FROM information_schema.character_sets WHERE maxlen = 1 ORDER BY 1")]
    charsets.remove("binary")
    collations = ask(
        "SELECT collation_name, character_set_name FROM information_schema.collations "
        "WHERE sortlen = 1 AND collation_name NOT LIKE '%\\_bin' ORDER BY 1"
    )
    numbers = "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 255) "
    sets, orders = bytearray(), bytearray()
    for charset in charsets:
        text = f"CONVERT(UNHEX(LPAD(HEX(n), 2, '0')) USING {charset})"
        rows = ask(numbers + f"SELECT HEX(CONVERT({text} USING utf16)), HEX(LOWER({text})), HEX(UPPER({text})) FROM r")
        sets += bytes([len(charset)]) + charset.encode()
        for n, row in enumerate(rows):
            unicode = int(row[0], 16) if row[0] else 0
            # '?' for another byte than the question mark stands for "no character".
            unicode = 0 if unicode == 0x3F and n != 0x3F else unicode
            sets += unicode.to_bytes(2, "little")
        for column in (1, 2):
            sets += bytes(int(row[column] or f"{n:02X}", 16) for n, row in enumerate(rows))
        for collation in [c for c, owner in collations if owner == charset]:
            rows = ask(numbers + f"SELECT HEX(WEIGHT_STRING({text} COLLATE {collation})) FROM r")
            if all(len(row[0]) == 2 for row in rows):
                orders += bytes([len(collation)]) + collation.encode() + bytes(int(row[0], 16) for row in rows)
    return bytes(sets), bytes(orders)


def registry():
    def table(name, sql):
        (HERE / name).write_text("".join("\t".join(row) + "\n" for row in ask(sql)))

    table(
        "collations.tsv",
        "SELECT id, collation_name, character_set_name, IF(is_default = 'Yes', 1, 0), sortlen, "
        "IF(pad_attribute = 'PAD SPACE', 1, 0) FROM information_schema.collations ORDER BY id",
    )
    table("charsets.tsv", "SELECT character_set_name, description, maxlen FROM information_schema.character_sets ORDER BY 1")


def general_implicit(n):
    return (n,) if n < 0x10000 else (0xFFFD,)


def main():
    ask(CODE_POINTS)
    registry()
    files = {
        "uca_0900.bin": weight_blob(weights("0900_as_cs"), uca_implicit),
        "uca_0520.bin": weight_blob(weights("unicode_520_ci"), old_implicit),
        "uca_0400.bin": weight_blob(weights("unicode_ci"), lambda n: old_implicit(n) if n < 0x10000 else (0xFFFD,)),
        "general.bin": weight_blob(weights("general_ci"), general_implicit),
        "case_general.bin": case_blob("general_ci"),
        "case_0520.bin": case_blob("unicode_520_ci"),
        "case_0900.bin": case_blob("0900_ai_ci"),
    }
    files["single_byte_charsets.bin"], files["single_byte_orders.bin"] = single_byte_blobs()
    for name, content in files.items():
        (HERE / name).write_bytes(content)
        print(name, len(content))
    ask("DROP DATABASE charset_build")


if __name__ == "__main__":
    main()
