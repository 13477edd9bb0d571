#!/usr/bin/env python3
"""Writes `tailorings.tsv`: what the collations of languages change of the weights of Unicode, by asking a MySQL server.

    python3 build_tailorings.py HOST PORT      (needs pymysql; makes and drops the schema charset_build)

Characters are all asked for. Contractions are looked for among sequences of letters and combining marks: a sequence is one if it weighs
otherwise than its characters, or than what of it is known to be a contraction, in turn. Only the collations with three levels
are asked of UCA 9.0.0; those with one level have the first of these. `src/tailoring.rs` reads the file.
"""

import pathlib
import sys

import pymysql

OLD = (
    "icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak spanish2 roman "
    "persian esperanto hungarian sinhala german2 croatian vietnamese"
).split()
NEW = "de_pb is lv ro sl pl et es sv tr cs da lt sk es_trad la eo hu hr vi ru nb nn sr_latn bs bg gl mn_cyrl".split()
# Ranges of weights that a language moves: level, first, last, distance. What they do not explain is listed.
LATIN_FIRST = [(1, 0x1FB9, 0x2021, 448), (1, 0x2022, 0x21E1, -108)]
CYRILLIC_FIRST = [(1, 0x1C47, 0x2021, 448), (1, 0x2022, 0x21E1, -987)]
CAPITALS_FIRST = [
    (3, 0x02, 0x06, 768), (3, 0x08, 0x0C, 256), (3, 0x0D, 0x0D, 768), (3, 0x0E, 0x0E, 256), (3, 0x0F, 0x10, 768),
    (3, 0x11, 0x12, 256), (3, 0x13, 0x1C, 768), (3, 0x1D, 0x1D, 256), (3, 0x1E, 0x1E, 768),
]
MOVES = dict.fromkeys(["hr", "sr_latn", "bs"], LATIN_FIRST) | dict.fromkeys(["ru", "bg", "mn_cyrl"], CYRILLIC_FIRST)
MOVES["da"] = CAPITALS_FIRST
# Lithuanian takes a dot with an accent for the accent alone; the weight 0 that they have on level 1 reads as the end of the level.
LISTED = {"lt": {chr(0x307) + chr(mark): ((0,), (level_2,), (2,)) for mark, level_2 in [(0x300, 0x25), (0x301, 0x24), (0x303, 0x2D)]}}
LETTERS = [chr(letter) for letter in [*range(0x41, 0x5B), *range(0x61, 0x7B)]]
MARKS = [chr(mark) for mark in range(0x300, 0x346)]
PIECE = 3000


class Asked:
    """Weights by one collation."""

    def __init__(self, cursor, collation, levels):
        self.cursor, self.collation, self.levels, self.single = cursor, collation, levels, {}

    def split(self, key):
        words = [int.from_bytes(key[at : at + 2], "big") for at in range(0, len(key), 2)]
        found = [[]]
        for word in words:
            if word == 0 and self.levels > 1:
                found.append([])
            else:
                found[-1].append(word)
        return tuple(map(tuple, found + [[]] * (self.levels - len(found))))

    def characters(self):
        self.cursor.execute(f"SELECT n, WEIGHT_STRING(c COLLATE {self.collation}) FROM code_point")
        return {number: self.split(key) for number, key in self.cursor.fetchall()}

    def texts(self, texts):
        texts = sorted(texts)
        for at in range(0, len(texts), PIECE):
            rows = ",".join(f"ROW({n}, _utf8mb4 X'{text.encode().hex()}')" for n, text in enumerate(texts[at : at + PIECE]))
            self.cursor.execute(f"SELECT i, WEIGHT_STRING(t COLLATE {self.collation}) FROM (VALUES {rows}) v (i, t)")
            for number, key in self.cursor.fetchall():
                yield texts[at + number], self.split(key)

    def contractions(self, texts, known):
        """Those of the texts that do not weigh what their parts weigh."""
        self.single.update(self.texts({character for text in texts for character in text} - set(self.single)))
        return {text: levels for text, levels in self.texts(texts) if levels != self.expected(text, known)}

    def expected(self, text, known):
        levels, at = [()] * self.levels, 0
        while at < len(text):
            length = next((length for length in (4, 3, 2) if text[at : at + length] in known), 1)
            part = known[text[at : at + length]] if length > 1 else self.single[text[at]]
            levels, at = [so_far + more for so_far, more in zip(levels, part)], at + length
        return tuple(levels)


def contractions(asked, changed):
    own = [chr(number) for number in changed] if len(changed) < 300 else []
    latin = [chr(number) for number in [*range(0x20, 0x7F), *range(0xC0, 0x250), *range(0x400, 0x530), *range(0x1E00, 0x1F00)]]
    found = asked.contractions({a + b for a in latin + own + MARKS for b in LETTERS + MARKS + own + ["\u00b7", "'", "-"]}, {})
    lower = [a + b + c for a in LETTERS[26:] for b in LETTERS[26:] for c in LETTERS[26:]]
    longer = set(lower + [text.upper() for text in lower] + [text.capitalize() for text in lower])
    longer |= {a + b + c for a in LETTERS for b in LETTERS + MARKS[:20] for c in MARKS[:20]}
    last = found
    for _ in range(3):
        longer |= {text + more for text in last for more in LETTERS + MARKS} | {more + text for text in last for more in LETTERS}
        last = asked.contractions(longer, found)
        found, longer = found | last, set()
    return found


def moved(moves, level, weight):
    return next((weight + distance for on, first, last, distance in moves if on == level and first <= weight <= last), weight)


def written(levels):
    if len(levels) == 3 and levels[1:] == ((0x20,) * len(levels[0]), (0x02,) * len(levels[0])):
        levels = levels[:1]
    return "/".join(" ".join(f"{weight:04X}" if n == 0 else f"{weight:X}" for weight in level) for n, level in enumerate(levels))


def section(cursor, language, base):
    is_old = language in OLD
    asked = Asked(cursor, f"utf8mb4_{language}_ci" if is_old else f"utf8mb4_{language}_0900_as_cs", 1 if is_old else 3)
    characters, moves = asked.characters(), MOVES.get(language, [])
    rows = {}
    for number, levels in base.items():
        by_rule = tuple(tuple(moved(moves, n + 1, weight) for weight in level) for n, level in enumerate(levels))
        if characters[number] != by_rule and not (moves and 0xAC00 <= number <= 0xD7A3):
            rows[chr(number)] = characters[number]
    rows |= LISTED.get(language) or contractions(asked, [ord(character) for character in rows])
    yield f"= {language} {'0400' if is_old else '0900'}"
    for level, first, last, distance in moves:
        yield f">\t{level}\t{first:04X}\t{last:04X}\t{distance}"
    for text in sorted(rows):
        yield "+".join(f"{ord(character):04X}" for character in text) + "\t" + written(rows[text])


def main():
    connection = pymysql.connect(host=sys.argv[1], port=int(sys.argv[2]), user="root", charset="utf8mb4", autocommit=True)
    cursor = connection.cursor()
    from build import CODE_POINTS

    for statement in CODE_POINTS.split(";")[:-1]:
        cursor.execute(statement)
    bases = {1: Asked(cursor, "utf8mb4_unicode_ci", 1).characters(), 3: Asked(cursor, "utf8mb4_0900_as_cs", 3).characters()}
    lines = []
    for language in OLD + NEW:
        lines += section(cursor, language, bases[1 if language in OLD else 3])
        print(language, len(lines), flush=True)
    (pathlib.Path(__file__).parent / "tailorings.tsv").write_text("\n".join(lines) + "\n")
    cursor.execute("DROP DATABASE charset_build")


if __name__ == "__main__":
    main()
