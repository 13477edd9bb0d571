#!/usr/bin/env python3
"""Writes `multi_byte_NAME.bin`, the character sets of several bytes a character, by asking a MySQL server (see build.py).

For each character set: the characters with their code points; the code points that MySQL writes as another
code than the lowest; the weights of its collation where they differ from the code. Format: `data/README.md`."""

from build import HERE, ask, varint, zigzag

CHARSETS = {
    "big5": "big5_chinese_ci",
    "cp932": "cp932_japanese_ci",
    "eucjpms": "eucjpms_japanese_ci",
    "euckr": "euckr_korean_ci",
    "gb18030": "gb18030_chinese_ci",
    "gb2312": "gb2312_chinese_ci",
    "gbk": "gbk_chinese_ci",
    "sjis": "sjis_japanese_ci",
    "ujis": "ujis_japanese_ci",
}
NUMBERS = "SET cte_max_recursion_depth = 100000; WITH RECURSIVE r(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM r WHERE n < %d) "


def characters(charset, collation):
    """Code -> (code point or None, weight as hexadecimal text) of every well formed character."""
    found = {}

    def look(first, last, digits, prefix=""):
        code = f"UNHEX(CONCAT('{prefix}', LPAD(HEX(n), {digits}, '0')))"
        text = f"CONVERT({code} USING {charset})"
        rows = ask(
            NUMBERS % (first, last)
            + f"SELECT HEX({code}), HEX(CONVERT({text} USING utf32)), HEX(WEIGHT_STRING({text} COLLATE {collation})) "
            f"FROM r WHERE {text} IS NOT NULL AND CHAR_LENGTH({text}) = 1"
        )
        for code, unicode, weight in rows:
            number = int(code, 16)
            known = None if unicode in ("", "0000003F") and number != 0x3F else int(unicode, 16)
            assert not weight.startswith("00") or number == 0, (charset, code, weight)
            found[number] = (known, weight)

    look(0, 0xFF, 2)
    look(0x8000, 0xFFFF, 4)
    if charset in ("ujis", "eucjpms"):
        look(0xA1A1, 0xFEFE, 4, "8F")
    return found


def reverse(charset):
    """Code point -> code, for those that the character set has."""
    point = "CONVERT(UNHEX(LPAD(HEX(n), 8, '0')) USING utf32)"
    rows = ask(NUMBERS % (1, 0xFFFF) + f"SELECT n, HEX(CONVERT({point} USING {charset})) FROM r WHERE n < 55296 OR n > 57343")
    return {int(n): int(code, 16) for n, code in rows if code != "3F" or n == "63"}


def four_byte_weights(codes, collation):
    """The weights of four-byte codes of gb18030."""
    weights = {}
    codes = sorted(codes)
    for at in range(0, len(codes), 2000):
        rows = " UNION ALL ".join(f"SELECT {code} n" for code in codes[at : at + 2000])
        text = "CONVERT(UNHEX(HEX(n)) USING gb18030)"
        for n, weight in ask(f"SELECT n, HEX(WEIGHT_STRING({text} COLLATE {collation})) FROM ({rows}) x"):
            weights[int(n)] = weight
    return weights


def record(charset, collation):
    found = characters(charset, collation)
    backward = reverse(charset)
    if charset == "gb18030":
        wide = {code: unicode for unicode, code in backward.items() if code > 0xFFFF}
        weights = four_byte_weights(wide, collation)
        found.update({code: (unicode, weights[code]) for code, unicode in wide.items()})
    out = bytearray()
    pairs = [(code, unicode) for code, (unicode, _) in sorted(found.items()) if unicode is not None and code != unicode]
    out += varint(len(pairs))
    previous = (0, 0)
    for code, unicode in pairs:
        out += varint(code - previous[0]) + zigzag(unicode - previous[1])
        previous = (code, unicode)
    lowest = {}
    for code, (unicode, _) in sorted(found.items()):
        if unicode is not None:
            lowest.setdefault(unicode, code)
    others = [(unicode, code) for unicode, code in sorted(backward.items()) if lowest.get(unicode) != code]
    unwritten = sorted(set(lowest) - set(backward) - {0})
    others = sorted(others + [(unicode, 0) for unicode in unwritten])
    out += varint(len(others))
    previous = 0
    for unicode, code in others:
        out += varint(unicode - previous) + varint(code)
        previous = unicode
    weights = [(code, weight) for code, (_, weight) in sorted(found.items()) if weight and int(weight, 16) != code]
    out += varint(len(weights))
    previous = (0, 0)
    for code, weight in weights:
        value = int(weight, 16)
        out += varint(code - previous[0]) + zigzag(value - previous[1])
        previous = (code, value)
    print(charset, len(found), "characters,", len(others), "written otherwise,", len(weights), "weights,", len(out), "bytes")
    return bytes(out)


if __name__ == "__main__":
    for charset, collation in CHARSETS.items():
        (HERE / f"multi_byte_{charset}.bin").write_bytes(record(charset, collation))
