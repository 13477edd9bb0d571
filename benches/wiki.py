"""The Tuningathon's two tables of MediaWiki: their definitions as the origin prints them, rows of the same number, widths and shares, and
loading them into a server.

The queries ask for what was touched since the beginning of last year by the server's clock, so the rows end in March of the current year,
as the origin's do."""
import datetime
import hashlib
import itertools
import random

PAGES = 1_670_757
PAGE = r"""CREATE TABLE `page` (
  `page_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL,
  `page_title` varchar(255) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL,
  `page_restrictions` tinyblob NOT NULL,
  `page_counter` bigint(20) unsigned NOT NULL DEFAULT '0',
  `page_is_redirect` tinyint(3) unsigned NOT NULL DEFAULT '0',
  `page_is_new` tinyint(3) unsigned NOT NULL DEFAULT '0',
  `page_random` double unsigned NOT NULL,
  `page_touched` binary(14) NOT NULL DEFAULT '\0\0\0\0\0\0\0\0\0\0\0\0\0\0',
  `page_latest` int(10) unsigned NOT NULL,
  `page_len` int(10) unsigned NOT NULL,
  PRIMARY KEY (`page_id`),
  UNIQUE KEY `name_title` (`page_namespace`,`page_title`),
  KEY `page_random` (`page_random`),
  KEY `page_len` (`page_len`),
  KEY `page_redirect_namespace_len` (`page_is_redirect`,`page_namespace`,`page_len`)
) ENGINE=InnoDB AUTO_INCREMENT=2704666 DEFAULT CHARSET=utf8"""
REVISION = r"""CREATE TABLE `revision` (
  `rev_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `rev_page` int(10) unsigned NOT NULL,
  `rev_text_id` int(10) unsigned NOT NULL,
  `rev_comment` tinyblob NOT NULL,
  `rev_user` int(10) unsigned NOT NULL DEFAULT '0',
  `rev_user_text` varchar(255) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL DEFAULT '',
  `rev_timestamp` binary(14) NOT NULL DEFAULT '\0\0\0\0\0\0\0\0\0\0\0\0\0\0',
  `rev_minor_edit` tinyint(3) unsigned NOT NULL DEFAULT '0',
  `rev_deleted` tinyint(3) unsigned NOT NULL DEFAULT '0',
  `rev_len` int(10) unsigned DEFAULT NULL,
  `rev_parent_id` int(10) unsigned DEFAULT NULL,
  `rev_sha1` varbinary(32) NOT NULL DEFAULT '',
  PRIMARY KEY (`rev_id`),
  UNIQUE KEY `rev_page_id` (`rev_page`,`rev_id`),
  KEY `rev_timestamp` (`rev_timestamp`),
  KEY `page_timestamp` (`rev_page`,`rev_timestamp`),
  KEY `user_timestamp` (`rev_user`,`rev_timestamp`),
  KEY `usertext_timestamp` (`rev_user_text`,`rev_timestamp`),
  KEY `page_user_timestamp` (`rev_page`,`rev_user`,`rev_timestamp`)
) ENGINE=InnoDB AUTO_INCREMENT=45658130 DEFAULT CHARSET=utf8 MAX_ROWS=10000000 AVG_ROW_LENGTH=1024"""
TABLES = {"page": PAGE, "revision": REVISION}
# Raised when other rows are made of the same number of pages and year.
VERSION = 2
LETTERS = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン東西南北駅山川田中大小学校市町村県国史日本年月人物語作品一覧"
# Articles and redirects are namespace 0; edits grew over ten years.
NAMESPACES, SHARES = (0, 1, 2, 3, 4, 6, 10, 14), (72, 5, 5, 8, 2, 2, 2, 4)
MONTHS = 120
GROWTH = list(itertools.accumulate(month**1.7 for month in range(1, MONTHS + 1)))
ARTICLE_REDIRECTS, OTHER_REDIRECTS, ANONYMOUS, USERS = 0.36, 0.05, 0.345, 700_000
# How edits are shared among users: Q4 has 40,499 rows in 2026, the origin's 39,434.
USER_SHAPE, USER_SCALE = 0.35, 5
IDS_A_PAGE, REVISIONS_A_PAGE = 1.62, 27


def stamp(dice, year, month):
    return f"{year - 10 + month // 12}{month % 12 + 1:02}{dice.randint(1, 28):02}{dice.randint(0, 23):02}{dice.randint(0, 59):02}{dice.randint(0, 59):02}"


def rows(pages, year):
    """Lines of page and revision of each page, in the order of pages. The revision's begin with their key."""
    dice = random.Random(5)
    identities = sorted(dice.sample(range(1, int(pages * IDS_A_PAGE)), pages))
    latest = dice.sample(range(1, pages * REVISIONS_A_PAGE), pages)
    for page, revision in zip(identities, latest):
        namespace, = dice.choices(NAMESPACES, SHARES)
        redirect = int(dice.random() < (OTHER_REDIRECTS if namespace else ARTICLE_REDIRECTS))
        length = dice.randint(30, 60) if redirect else min(int(dice.lognormvariate(7.4, 1.3)), 300_000)
        month, = dice.choices(range(MONTHS), cum_weights=GROWTH)
        edited = stamp(dice, year, month)
        touched = max(edited, stamp(dice, year, dice.randint(100, 122)))
        user = 0 if dice.random() < ANONYMOUS else int((dice.paretovariate(USER_SHAPE) - 1) * USER_SCALE) % USERS + 1
        name = f"利用者{user}" if user else f"{page % 223}.{page % 251}.{page % 241}.{page % 239}"
        title = "".join(dice.choices(LETTERS, k=dice.randint(3, 9)))
        yield (f"{page}\t{namespace}\t{title}_{page}\t\t0\t{redirect}\t{dice.randint(0, 1)}\t{dice.random():.12f}\t{touched}\t{revision}\t{length}\n",
               f"{revision}\t{page}\t{revision}\t/* {title} */\t{user}\t{name}\t{edited}\t{int(dice.random() < 0.2)}\t0\t{length}"
               f"\t{max(0, revision - 1000)}\t{hashlib.sha1(str(page).encode()).hexdigest()[:31]}\n")


def version(pages, year):
    return f"{VERSION}-{year}-{pages}"


def files(folder, pages=PAGES, year=None):
    """Files of both tables by the tables' names, each in the order of its primary key; made once a folder and year."""
    year = year or datetime.date.today().year
    paths = {table: folder / f"{table}-{version(pages, year)}.tsv" for table in TABLES}
    if all(path.exists() for path in paths.values()):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    revisions = []
    with open(paths["page"], "w", encoding="utf8") as page:
        for page_line, revision_line in rows(pages, year):
            page.write(page_line)
            revisions.append(revision_line)
    revisions.sort(key=lambda line: int(line[:line.index("\t")]))
    # Written last and moved in place: a file of this name is whole, and so is the other one.
    unfinished = paths["revision"].with_suffix(".part")
    with open(unfinished, "w", encoding="utf8") as revision:
        revision.writelines(revisions)
    unfinished.rename(paths["revision"])
    return paths


def load(cursor, paths):
    """Makes and fills both tables in the current schema, and yields the name of each when it is loaded."""
    for table, definition in TABLES.items():
        cursor.execute(definition)
        cursor.execute(f"LOAD DATA LOCAL INFILE '{paths[table]}' INTO TABLE {table} CHARACTER SET utf8mb4")
        cursor.execute("COMMIT")
        yield table
    cursor.execute("ANALYZE TABLE page, revision")
    cursor.fetchall()
