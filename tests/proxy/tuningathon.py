"""The three scripts of origin 000, verbatim, before an Iruka with the rules of 5.5: what they print, and how much Qcache_hits rises in a
run of Q0 to Q5: 0 without a script, then 3, 4 and 5.

    tuningathon.py --binary IRUKA                        as it has to be
    tuningathon.py --binary IRUKA --original MYSQL-PROXY and the same packets as through the original, to client and server
"""
import argparse
import importlib.util
import pathlib
import sys
import time

import backends
import client
from run import TIMEOUT_SECONDS, Proxy

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
from with_server import running  # noqa: E402

JOIN = "FROM page p JOIN revision r ON p.page_id = r.rev_page WHERE p.page_is_redirect = 0 AND p.page_namespace = 0"
RUN = [
    "RESET /* Q0 */ QUERY CACHE",
    f"SELECT /* Q1 */ COUNT(*) {JOIN} AND r.rev_user = 0",
    f"SELECT /* Q2 */ COUNT(*) {JOIN} AND r.rev_user = 0 AND p.page_touched > DATE_FORMAT(NOW() - INTERVAL 1 YEAR, '%Y0101000000')",
    f"SELECT /* Q3 */ p.page_id {JOIN} AND r.rev_user = 0 ORDER BY p.page_touched DESC LIMIT 10",
    f"SELECT /* Q4 */ r.rev_user, COUNT(*) AS c {JOIN} GROUP BY r.rev_user ORDER BY c DESC",
    f"SELECT /* Q5 */ SUBSTRING(r.rev_timestamp, 1, 6), COUNT(*) AS c {JOIN} GROUP BY SUBSTRING(r.rev_timestamp, 1, 6) ORDER BY c DESC",
]
# What is cheap is kept when it is seen again, so the first runs rise less.
RUNS = 4
SCRIPTS = (("q0", 3, ["[HIT Q0]"]), ("q0q1", 4, ["[HIT Q0]"]), ("q0q1q2", 5, ["[HIT Q0]", "[HIT Q2]"]))


def results_tests():
    spec = importlib.util.spec_from_file_location("results", FOLDER.parent / "results" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settled(read):
    """A value that stays: what a session that ends has counted is there twice or not at all for a moment."""
    value = read()
    while True:
        time.sleep(0.03)
        again = read()
        if again == value:
            return value
        value = again


def play(port):
    """One run, with autocommit off. What it answered, and all packets."""
    session = client.Client(port, TIMEOUT_SECONDS)
    assert session.login(db="results") == "in"
    session.query(b"SET autocommit = 0")
    session.packets = []
    answers = [session.query(statement.encode()) for statement in RUN]
    session.quit()
    return answers, session.packets


def through(command, script, server, hits):
    """RUNS runs through a proxy: how much the hits rose in each, the last answers, the last packets both ways, and what was printed."""
    backend = backends.Backend(("127.0.0.1", server.port))
    proxy = Proxy(command, script, [], [("read-write", backend.port)])
    rises = []
    for _ in range(RUNS):
        before = hits()
        backend.sent = bytearray()
        answers, packets = play(proxy.port)
        rises.append(hits() - before)
    assert proxy.stop() == 0
    backend.set("down")
    # Without a password no scramble is answered: the logins are equal too.
    return rises, answers, packets, bytes(backend.sent), proxy.read("out").splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--original")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    results = results_tests()
    with running(binary, ["--query-cache-compatibility=5.5"]) as server:
        root = results.Server(f"127.0.0.1:{server.port}").connect(autocommit=True)

        def hits():
            return settled(lambda: results.hits(root))

        results.prepare(root)
        direct = [play(server.port)[0] for _ in range(RUNS)][-1]
        before = hits()
        assert play(server.port)[0] == direct
        assert hits() == before, "Q0 empties the cache, so nothing is served without a script"
        for name, rise, prints in SCRIPTS:
            script = FOLDER / "origin" / f"tuningathon5_{name}.lua"
            results.ask(root, "RESET QUERY CACHE")
            ours = through([binary, "proxy"], script, server, hits)
            rises, answers, packets, sent, printed = ours
            print(f"{name}: Qcache_hits {' '.join(f'+{count}' for count in rises)}, prints {' '.join(prints)}")
            assert rises[-2:] == [rise, rise], rises
            assert printed == prints * RUNS, printed
            assert answers == direct, answers
            if options.original:
                results.ask(root, "RESET QUERY CACHE")
                theirs = through(["stdbuf", "-oL", options.original], script, server, hits)
                assert theirs[0] == rises, theirs[0]
                assert theirs[2] == packets and theirs[3] == sent, "the packets differ from the original's"
                assert theirs[4] == printed
                print(f"{name}: {len(packets)} packets to the client and {len(sent)} bytes to the server as through the original")
    print("tuningathon: ok")


if __name__ == "__main__":
    main()
