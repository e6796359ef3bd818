"""Start of the recorder of locks in each Python process of a test run, whose PYTHONPATH has this folder."""

import importlib.util
import os
import sys
from pathlib import Path


class _Start:
    """Installs the recorder at the first import of a module that it patches; others need not wait for it."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname not in ("runtime.locks", "psycopg"):
            return None
        sys.meta_path.remove(_Start)
        top = str(Path(__file__).resolve().parents[4])
        # Only meanwhile: a process must not find modules that it would not find by itself.
        sys.path.insert(0, top)
        try:
            from tests.harness.locks.installing import install
        finally:
            sys.path.remove(top)
        install()
        return importlib.util.find_spec(fullname)


if "TEST_LOCK_RECORDS" in os.environ:
    sys.meta_path.insert(0, _Start)
