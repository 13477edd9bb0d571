"""Which test files a run of golden texts reads."""

import pathlib


def chosen(names, folder):
    """The test files below the folders and among the files that are named, or all of the folder."""
    paths = [pathlib.Path(name).resolve() for name in names] or [folder]
    return sorted(test for path in paths for test in ([path] if path.is_file() else path.rglob("*.test")))
