"""Whether two answers are the same, and an answer in few bytes."""
import hashlib
import math

RELATIVE = 1e-9


def near(left, right):
    if left is None or right is None:
        return left is right
    return math.isclose(float(left), float(right), rel_tol=RELATIVE, abs_tol=1e-300)


def parted(answer, ordered):
    """Rows as pairs of what is compared to the letter and its doubles; sorted where their order is open."""
    rows = [(tuple(value for place, value in enumerate(row) if place not in answer.doubles), tuple(row[place] for place in answer.doubles))
            for row in answer.rows]
    return rows if ordered else sorted(rows, key=repr)


def difference(expected, got, ordered):
    """What is different first, or None."""
    if expected.error or got.error:
        return None if expected.error == got.error else f"{expected.error or 'rows'} against {got.error or 'rows'}"
    if expected.header != got.header:
        return f"columns {expected.header} against {got.header}"
    if len(expected.rows) != len(got.rows):
        return f"{len(expected.rows)} rows against {len(got.rows)}"
    for number, (left, right) in enumerate(zip(parted(expected, ordered), parted(got, ordered))):
        if left[0] != right[0] or not all(map(near, left[1], right[1])):
            return f"row {number}: {left} against {right}"
    return None


def recorded(answer, ordered):
    """An answer for results.json: a digest of columns and values, and the sum of each column of doubles."""
    rows = parted(answer, ordered)
    values = [(row[0], [double is None for double in row[1]]) for row in rows]
    digest = hashlib.sha256(repr((answer.header, values)).encode()).hexdigest()[:16]
    sums = [math.fsum(float(row[1][place]) for row in rows if row[1][place] is not None) for place in range(len(answer.doubles))]
    return {"rows": len(rows), "digest": digest, "sums": sums}


def matches(record, answer, ordered):
    now = recorded(answer, ordered)
    return not answer.error and (now["rows"], now["digest"], len(now["sums"])) == (record["rows"], record["digest"], len(record["sums"])) \
        and all(map(near, now["sums"], record["sums"]))
