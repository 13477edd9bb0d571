"""What counts as the same answer."""
import answers
from servers import Answer

HEADER = (("x", 5, 31), ("y", 253, 31))


def of(*rows, header=HEADER, error=""):
    """An answer whose first column is a double."""
    return Answer(header, (0,), rows, error)


def same(left, right, ordered=True):
    """What comparing with the other server and with a record say, which must be one thing."""
    compared = answers.difference(left, right, ordered) is None
    assert compared == answers.matches(answers.recorded(left, ordered), right, ordered)
    return compared


assert same(of(("0.1", "a")), of(("0.10000000000000003", "a")))
assert not same(of(("0.1", "a")), of(("0.1000001", "a")))
assert not same(of((None, "a")), of(("0", "a")))
assert not same(of(("1", "a")), of(("1", "A")))
assert not same(of(("1", "a")), of(("1", "a"), ("1", "a")))
assert not same(of(("1", "a")), of(("1", "a"), header=(("x", 5, 31), ("z", 253, 31))))
assert not same(of(("1", "a")), of(("1", "a"), header=(("x", 5, 2), ("y", 253, 31))))
assert not same(of(("1", "a")), of(error="error 1235: no"))
swapped = of(("1", "a"), ("2", "b")), of(("2", "b"), ("1", "a"))
assert same(*swapped, ordered=False) and not same(*swapped, ordered=True)
assert answers.difference(of(error="error 1: a"), of(error="error 1: b"), True)
