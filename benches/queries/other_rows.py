"""Rows of MediaWiki's, sysbench's and the cliffs' tables."""
import hashlib

KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン東西南北駅山川田中大小学校市町村"
NAMESPACES = [0] * 72 + [1] * 5 + [2] * 5 + [3] * 8 + [4] * 2 + [6] * 2 + [10] * 2 + [14] * 4


def stamp(dice, year_from, year_to):
    return (f"{dice.between(year_from, year_to)}{dice.between(1, 12):02}{dice.between(1, 28):02}"
            f"{dice.between(0, 23):02}{dice.between(0, 59):02}{dice.between(0, 59):02}")


def page_and_revision(dice, scale):
    """Pairs of a page and its last revision, with the shares of the Tuningathon's data: 72% articles, of which 36% redirect;
    a third of the revisions by nobody known, the others by few users with many and many with few."""
    key, untalked = 0, {}
    for number in range(1, round(1_670_000 * scale) + 1):
        key += dice.between(1, 2)
        namespace = dice.pick(NAMESPACES)
        redirect = int(dice.between(1, 100) <= (36 if namespace == 0 else 5))
        title = "".join(dice.pick(KANA) for _ in range(dice.between(3, 9))) + f"_{key}"
        if namespace in (1, 3) and dice.between(1, 10) <= 8:
            title = untalked.pop(namespace - 1, title)
        untalked[namespace] = title
        length = dice.between(30, 60) if redirect else 30 + dice.between(1, 170) ** 2 * dice.between(1, 10)
        revision = number * 27 % 45_000_017 + 1
        edited = stamp(dice, 2003, 2012)
        user = 0 if dice.between(1, 1000) <= 345 else min(int(3 / (1 - dice.fraction()) ** 1.8), 700_000)
        name = f"利用者{user}" if user else f"{key % 223}.{key % 251}.{key % 241}.{key % 239}"
        yield ((key, namespace, title, "", 0, redirect, dice.between(0, 1), f"{dice.between(0, 10**12 - 1) / 10**12:.12f}",
                max(edited, stamp(dice, 2011, 2012)), revision, length),
               (revision, key, revision, f"/* {title[:8]} */", user, name, edited, dice.between(0, 1), 0, length, max(0, revision - 1000),
                hashlib.sha1(str(key).encode()).hexdigest()[:31]))


def digits(dice, groups):
    return "-".join(f"{dice.between(0, 10**11 - 1):011}" for _ in range(groups))


def sbtest(dice, scale):
    rows = round(1_000_000 * scale)
    for key in range(1, rows + 1):
        # Sysbench's special distribution: most values of k lie in the middle.
        k = dice.between(1, rows) if dice.between(1, 4) == 1 else rows * 49 // 100 + dice.between(1, max(1, rows // 50))
        yield key, k, digits(dice, 10), digits(dice, 5)


def t(dice, scale):
    rows = round(1_500_000 * scale)
    for key in range(1, rows + 1):
        yield key, key * 7919 % (rows // 3), key % 10, f"apple{key * 31 % (rows // 2)}", "x" * 60


def u(dice, scale):
    rows = round(1_500_000 * scale)
    for key in range(1, rows * 2 // 3 + 1):
        yield key, 1 + key * 13 % rows, key * 17 % 1000
