"""Plans that a query is forced into: other orders of its joins (STRAIGHT_JOIN over the tables of FROM in another order) and other
indexes (FORCE and IGNORE INDEX), to compare the chosen plan with."""
import itertools
import random
import re

import pymysql

# Orders of one FROM that are tried, and forced plans of one query.
ORDERS_MAX, FORCED_MAX = 24, 60
NAME = r"[a-z]\w*"
TABLE = rf"({NAME})(?:\s+(?!join\b|left\b|where\b|on\b|group\b|order\b|use\b|limit\b|union\b)({NAME}))?"
COMMAS = re.compile(rf"\bFROM\s+({TABLE}(?:\s*,\s*{TABLE})+)(?=\s*\bWHERE\b)", re.IGNORECASE)
PAIR = re.compile(rf"\bFROM\s+({TABLE})\s+JOIN\s+({TABLE})\s+ON\b", re.IGNORECASE)
ALONE = re.compile(rf"(?:\bFROM|,|\bJOIN)\s+({TABLE})", re.IGNORECASE)


def depth_of(text, place):
    return text.count("(", 0, place) - text.count(")", 0, place)


def straight(text, place):
    """The text with STRAIGHT_JOIN in the SELECT whose FROM is at that place."""
    own = [found for found in re.finditer(r"\bSELECT\b", text[:place]) if depth_of(text, found.start()) == depth_of(text, place)]
    return text if not own else f"{text[:own[-1].end()]} STRAIGHT_JOIN{text[own[-1].end():]}"


def orders(tables):
    """Orders of those tables: all of few, else some of them, the same in each run."""
    if len(tables) <= 4:
        return itertools.permutations(tables)
    choice = random.Random(len(tables))
    return {tuple(choice.sample(tables, len(tables))) for _ in range(ORDERS_MAX)} | {tuple(tables), tuple(reversed(tables))}


def join_orders(text):
    for found in COMMAS.finditer(text):
        tables = [table.strip() for table in found[1].split(",")]
        for order in sorted(orders(tables)):
            changed = f"{text[:found.start(1)]}{', '.join(order)}{text[found.end(1):]}"
            yield straight(changed, found.start())
    for found in PAIR.finditer(text):
        yield straight(text, found.start())
        swapped = f"{text[:found.start(1)]}{found[4]} JOIN {found[1]}{text[found.end(4):]}"
        yield straight(swapped, found.start())


def index_choices(text, indexes):
    """`indexes`: names of the indexes of each table."""
    for found in ALONE.finditer(text):
        for index in indexes.get(found[2].lower(), ()):
            for kind in ("FORCE", "IGNORE"):
                yield f"{text[:found.end(1)]} {kind} INDEX ({index}){text[found.end(1):]}"


def forced(text, indexes):
    """Texts that ask the same and leave less of a choice."""
    found = dict.fromkeys([*index_choices(text, indexes), *join_orders(text)])
    return list(found)[:FORCED_MAX]


def regret(query, server, options):
    """The median time of the chosen plan, the best of the forced ones, and that one's text."""
    rows = server.statement("SELECT table_name, index_name FROM information_schema.statistics WHERE table_schema = DATABASE()")
    indexes = {}
    for table, index in rows:
        indexes.setdefault(table.lower(), [])
        if index not in indexes[table.lower()]:
            indexes[table.lower()].append(index)
    chosen = median(server, query.text, options.limit, options.runs)
    best, by, plan = chosen, query.text, server.explain(query.text)
    for text in forced(query.text, indexes):
        if is_refused(server, text) or server.explain(text) == plan:
            continue
        # Not for longer than it could matter.
        first = server.run(text, max(best, 0.05) * server.wall_of_second)
        if first.late or first.error:
            continue
        if first.seconds < 1.5 * best:
            seconds = median(server, text, options.limit, options.runs)
            if seconds < best:
                best, by = seconds, text
    # What was found to be faster is measured beside the chosen plan once more.
    if by != query.text:
        chosen, best = median(server, query.text, options.limit, options.runs), median(server, by, options.limit, options.runs)
    return chosen, min(best, chosen), by


def is_refused(server, text):
    """Whether the server does not take the text."""
    try:
        server.explain(text)
    except pymysql.err.MySQLError:
        return True
    return False


def median(server, text, limit, runs):
    first = server.run(text, limit).seconds
    repeats = max(1, min(50, int(0.02 / max(first, 1e-6))))
    samples = sorted(server.seconds(text, repeats, limit) for _ in range(runs))
    return samples[len(samples) // 2]
