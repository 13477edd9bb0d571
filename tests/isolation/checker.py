"""Finds isolation anomalies in a history of transactions over single rows. Main function: anomalies().

A version is (key, value); values are unique within a key. A read saw the newest version of a key and, for lists, all before it.
Names of anomalies are Adya's: G0 write cycle, G1a aborted read, G1b intermediate read, G1c circular information flow, G-single
(one anti-dependency), G2-item (several); P4 lost update; internal: a transaction does not see its own write; lost: a committed
version is missing at the end, or there twice; order: two reads saw the versions of a key in different orders."""
from collections import defaultdict, namedtuple

# Committed: True, False, or None when nobody knows (the server was killed). Operations: Write(key, value) and
# Read(key, versions): every version that the read saw, oldest first. A register's read sees (number, value) instead: see Order.
Transaction = namedtuple("Transaction", "number committed operations")
Write = namedtuple("Write", "key value")
Read = namedtuple("Read", "key versions")


class Order:
    """The order of one key's versions, as the reads show it."""

    def __init__(self):
        self.versions = []

    def see(self, versions):
        """False if the read contradicts an earlier one."""
        shorter, longer = sorted((self.versions, versions), key=len)
        if longer[:len(shorter)] != shorter:
            return False
        self.versions = longer
        return True


def anomalies(transactions, final):
    """[(name, what it is)] of a history. `final` is {key: versions} read when all had ended."""
    found = []
    writers = {(write.key, write.value): transaction for transaction in transactions for write in transaction.operations if isinstance(write, Write)}
    orders = defaultdict(Order)
    for key, versions in final.items():
        orders[key].see(versions)
    for transaction in transactions:
        if transaction.committed is False:
            continue
        for operation in transaction.operations:
            if isinstance(operation, Read) and operation.versions:
                found += check_read(transaction, operation, writers)
                own = {write.value for write in transaction.operations if isinstance(write, Write) and write.key == operation.key}
                foreign = [version for version in operation.versions if version not in own]
                if own.isdisjoint(operation.versions) and not any(is_aborted(writers, operation.key, version) for version in foreign):
                    if not orders[operation.key].see(operation.versions):
                        found.append(("order", f"{operation} of {transaction.number} against {orders[operation.key].versions}"))
        found += check_own_writes(transaction)
    found += check_final(transactions, writers, final)
    found += cycles(transactions, writers, orders)
    return found


def is_aborted(writers, key, version):
    writer = writers.get((key, version))
    return writer is not None and writer.committed is False


def check_read(transaction, read, writers):
    """G1a and G1b of one read."""
    for version in read.versions:
        writer = writers.get((read.key, version))
        if writer is None:
            yield "G1a", f"{transaction.number} read {version} of {read.key}, which nobody wrote"
        elif writer.committed is False:
            yield "G1a", f"{transaction.number} read {version} of {read.key} by {writer.number}, which was rolled back"
    last = writers.get((read.key, read.versions[-1]))
    if last is not None and last.number != transaction.number:
        own = [write.value for write in last.operations if isinstance(write, Write) and write.key == read.key]
        if own[-1] != read.versions[-1]:
            yield "G1b", f"{transaction.number} read {read.versions[-1]} of {read.key}, {last.number} wrote {own[-1]} later"


def check_own_writes(transaction):
    """A read after an own write must end with it."""
    written = {}
    for operation in transaction.operations:
        if isinstance(operation, Write):
            written[operation.key] = operation.value
        elif operation.key in written and operation.versions[-1:] != [written[operation.key]]:
            yield "internal", f"{transaction.number} wrote {written[operation.key]} to {operation.key} and read {operation.versions[-3:]}"


def check_final(transactions, writers, final):
    """Every committed version is there once, none that was rolled back."""
    for key, versions in final.items():
        if len(set(versions)) != len(versions):
            yield "lost", f"{key} has a version twice: {versions}"
        for version in versions:
            if is_aborted(writers, key, version):
                yield "G1a", f"{key} ends with {version}, which was rolled back"
    present = {key: set(versions) for key, versions in final.items()}
    for transaction in transactions:
        for write in transaction.operations if transaction.committed else ():
            if isinstance(write, Write) and write.key in present and write.value not in present[write.key]:
                yield "lost", f"{write.value} of {write.key} by {transaction.number} is gone"


def edges_of(transactions, writers, orders):
    """{from: {to: kinds}}; kinds are ww, wr and rw."""
    edges = defaultdict(lambda: defaultdict(set))
    alive = {transaction.number for transaction in transactions if transaction.committed is not False}

    def add(one, other, kind):
        if one != other and one in alive and other in alive:
            edges[one][other].add(kind)

    number = {version: writer.number for version, writer in writers.items()}
    following = {}
    for key, order in orders.items():
        for before, after in zip(order.versions, order.versions[1:]):
            following[(key, before)] = after
            if (key, before) in number and (key, after) in number:
                add(number[(key, before)], number[(key, after)], "ww")
    for transaction in transactions:
        for read in transaction.operations:
            if not isinstance(read, Read):
                continue
            order = orders[read.key].versions if read.key in orders else []
            newest = (read.key, read.versions[-1]) if read.versions else None
            if newest in number:
                add(number[newest], transaction.number, "wr")
            after = following.get(newest) if newest else (order[0] if order else None)
            if after is not None and (read.key, after) in number:
                add(transaction.number, number[(read.key, after)], "rw")
    return edges


def cycles(transactions, writers, orders):
    """G0, G1c, G-single, G2-item and P4, one witness for each group of transactions that depend on each other."""
    edges = edges_of(transactions, writers, orders)
    by_number = {transaction.number: transaction for transaction in transactions}
    for kinds, name in (({"ww"}, "G0"), ({"ww", "wr"}, "G1c")):
        for group in components(edges, kinds):
            yield name, f"transactions {sorted(group)[:8]}"
    information = {number for group in components(edges, {"ww", "wr"}) for number in group}
    for group in components(edges, {"ww", "wr", "rw"}):
        if information.issuperset(group):
            continue
        cycle = shortest(edges, group)
        anti = sum(1 for one, other in zip(cycle, cycle[1:] + cycle[:1]) if edges[one][other] == {"rw"})
        name = "G-single" if anti == 1 else "G2-item"
        if len(cycle) == 2 and lost_update(*(by_number[number] for number in cycle)):
            name = "P4"
        yield name, f"cycle {cycle} of {len(group)}: {[sorted(edges[one][other]) for one, other in zip(cycle, cycle[1:] + cycle[:1])]}"


def lost_update(one, other):
    """Both read the same version of a key and both wrote the key."""
    def read_then_wrote(transaction):
        seen = {}
        for operation in transaction.operations:
            if isinstance(operation, Read):
                seen.setdefault(operation.key, operation.versions[-1:])
        return {(key, tuple(version)) for key, version in seen.items()
                if any(isinstance(write, Write) and write.key == key for write in transaction.operations)}
    return bool(read_then_wrote(one) & read_then_wrote(other))


def components(edges, kinds):
    """Strongly connected groups of more than one transaction over the edges that have one of `kinds` (Tarjan, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    after = lambda number: [other for other, has in edges[number].items() if has & kinds] if number in edges else []  # noqa: E731
    for root in list(edges):
        if root in index:
            continue
        work = [(root, iter(after(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            number, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(after(other))))
                    break
                if other in on_stack:
                    low[number] = min(low[number], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[number])
                if low[number] == index[number]:
                    group = set()
                    while number not in group:
                        group.add(stack.pop())
                    on_stack -= group
                    if len(group) > 1:
                        found.append(group)
    return found


def shortest(edges, group):
    """A cycle in the group with the fewest anti-dependencies, then the fewest transactions, from any of its first members."""
    best = None
    for start in sorted(group)[:32]:
        reached, frontier = {start: (0, [start])}, [start]
        while frontier:
            following = []
            for number in frontier:
                cost, path = reached[number]
                for other, kinds in edges[number].items():
                    if other not in group:
                        continue
                    price = cost + (kinds == {"rw"}) * 1000 + 1
                    if other == start:
                        best = min(best or (price, path), (price, path))
                    elif other not in reached or reached[other][0] > price:
                        reached[other] = (price, path + [other])
                        following.append(other)
            frontier = following
    return best[1]
