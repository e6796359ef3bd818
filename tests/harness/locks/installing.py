"""Installation of the recorder in this process, also for modules that are imported later.

It imports little, because every process of a test run does it at its start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.harness.locks.recorder import Recorder

FOLDER = "TEST_LOCK_RECORDS"
"""The variable with the folder of the records. Its name lacks the prefix of settings, which tests remove."""
PATCHES = {"runtime.locks": "wrappers", "psycopg": "statements"}
"""The modules of this package that patch another module."""

_installed: list[Recorder] = []


def is_recording() -> bool:
    """Return whether the run has a folder for the records."""
    return FOLDER in os.environ


def recorder() -> Recorder:
    """Return the recorder of this process."""
    if not _installed:
        from tests.harness.locks.recorder import Recorder

        _installed.append(Recorder(Path(os.environ[FOLDER])))
    return _installed[0]


def install() -> None:
    """Record the locks of this process, if the run has a folder for that. A repetition does nothing."""
    if not is_recording() or any(isinstance(each, _Finder) for each in sys.meta_path):
        return
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    for name in PATCHES:
        if name in sys.modules:
            finder.patch(sys.modules[name])


class _Finder(MetaPathFinder):
    """Patches modules after their first import."""

    def __init__(self) -> None:
        self._missing = {*PATCHES}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._missing:
            return None
        self._missing.remove(fullname)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            self._patch_after(spec.loader)
        return spec

    def patch(self, module: ModuleType) -> None:
        self._missing.discard(module.__name__)
        patches = import_module(f"tests.harness.locks.{PATCHES[module.__name__]}")
        patches.install(module, recorder())

    def _patch_after(self, loader: Loader) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self.patch(module)

        loader.exec_module = exec_module  # type: ignore[method-assign]
