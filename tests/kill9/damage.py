"""Damage to a data directory between a kill and a start: one flipped bit, one file that is gone, or whose end is zeroes.

The start, or the statement that meets the damage, must name what is damaged; or everything is as it should be. What cannot be
told from a torn write is the log behind the last sync that later log tells of: a bit that is flipped there may take
transactions whose sync nothing had recorded yet, one of each writer at most. A log that ends in zeroes has no later log: what is
known of its length is a tenth of a second old at most."""
import pathlib
import re
import time

import pymysql

# Table damaged or crashed, its file missing, its rows unreadable; a schema or account table that is gone.
REFUSALS = {126, 127, 1030, 1146, 1194, 1195, 1712, 1812, 1877, 3162}
NAMED_SECONDS_MAX = 5
# What a writer commits in a tenth of a second at most, on a machine that is faster than any so far.
UNNOTED_MAX = 200


def files(folder):
    found = [path for path in pathlib.Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
    wanted = [path for path in found if path.suffix == ".ibd" or "redo" in path.parts]
    return sorted(path for path in wanted if path.stat().st_size > 0)


def inflict(folder, dice):
    """Damages one file. Returns it, what was done, and how many transactions of each writer it may have taken."""
    choices = files(folder)
    # As often the log as all tables together.
    log = [path for path in choices if "redo" in path.parts]
    path = dice.choice(log if dice.random() < 0.4 else choices)
    if dice.random() < 0.2:
        path.unlink()
        return path, f"{path.relative_to(folder)} removed", 0
    zeroes = dice.random() < 0.3
    with open(path, "r+b") as file:
        at = dice.randrange(path.stat().st_size)
        file.seek(at)
        if zeroes:
            file.write(bytes(path.stat().st_size - at))
            return path, f"{path.relative_to(folder)} zeroed from byte {at} on", UNNOTED_MAX if path in log else 0
        byte = file.read(1)[0]
        bit = dice.randrange(8)
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))
    return path, f"bit {bit} of byte {at} of {path.relative_to(folder)} flipped", 1 if path in log else 0


def is_named(path, text):
    """Whether a message names the file, or says in words what it is."""
    what = {"redo": r"redo log|log file|control", "doublewrite": r"doublewrite"}
    words = [re.escape(path.name)] + [pattern for part, pattern in what.items() if part in path.parts or part == path.name]
    return re.search("|".join(words), text, re.IGNORECASE) is not None


def wait_for_name(server, path, logged_before):
    """The server writes what it finds while it runs into its log a moment later."""
    end = time.monotonic() + NAMED_SECONDS_MAX
    while True:
        said = server.log()[logged_before:]
        if is_named(path, said) or time.monotonic() > end:
            return is_named(path, said), said
        time.sleep(0.1)


def judge(server, progress, path, unproven, logged_before):
    """Starts the server on the damaged directory. Returns how it ended: `refused`, `closed` or `right`."""
    try:
        server.start()
    except RuntimeError:
        said = server.log()[logged_before:]
        assert is_named(path, said), f"the start was refused without naming {path}:\n{said[-3000:]}"
        return "refused"
    try:
        progress.check(server, unproven=unproven, writes=False)
        return "right"
    except (pymysql.err.OperationalError, pymysql.err.InternalError, pymysql.err.ProgrammingError) as error:
        named, said = wait_for_name(server, path, logged_before)
        assert error.args[0] in REFUSALS, f"{error!r}\n{said[-3000:]}"
        assert named, f"{error!r} without naming {path}:\n{said[-3000:]}"
        return "closed"
    except AssertionError as error:
        # CHECK TABLE may be the one that tells.
        if "'error'" in str(error) and wait_for_name(server, path, logged_before)[0]:
            return "closed"
        raise
    finally:
        server.kill()
