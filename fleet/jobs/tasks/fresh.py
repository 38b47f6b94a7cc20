"""Run generated sources in this process: a codebase as fresh modules that no other import can see."""

from __future__ import annotations
import __future__

import builtins
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from fleet.jobs.tasks.definitions import pieces_of
from qodebase.paths import RepoPath


class FreshCode:
    """The modules of one package, run when they are first imported.

    Args:
        files: contents by path, ``PACKAGE/MODULE.py``.
        package: its name.
    """

    def __init__(self, files: Mapping[RepoPath, bytes], package: str) -> None:
        self._files = files
        self._package = ModuleType(package)
        self._builtins = {**vars(builtins), "__import__": self._import}

    def module(self, name: str) -> ModuleType:
        """Return a module of the package.

        Raises:
            SyntaxError: it does not compile.
            ModuleNotFoundError: there is none.
        """
        found = vars(self._package).get(name)
        if found is None:
            path = RepoPath(f"{self._package.__name__}/{name}.py".encode())
            if path not in self._files:
                raise ModuleNotFoundError(f"no module {name}")
            found = self.run(path, self._files[path])
            setattr(self._package, name, found)
        assert isinstance(found, ModuleType)
        return found

    def run(self, path: RepoPath, source: bytes) -> ModuleType:
        """Run a source (a test file, say) on this codebase; return its module."""
        module = ModuleType(path.text)
        vars(module)["__builtins__"] = self._builtins
        for code in _codes(source):
            exec(code, vars(module))
        return module

    def failures(self, path: RepoPath, source: bytes) -> dict[str, str]:
        """Run the test functions of a source; return those that fail, with why."""
        try:
            module = self.run(path, source)
        except Exception as error:
            return {"": repr(error)}
        failed = {}
        for name, test in vars(module).items():
            if name.startswith("test") and callable(test) and (why := _why(test)):
                failed[name] = why
        return failed

    def _import(self, name: str, *rest: Any) -> Any:
        if name != self._package.__name__:
            return builtins.__import__(name, *rest)
        wanted = rest[2] if len(rest) > 2 and rest[2] else ()
        for module in wanted:
            self.module(module)
        return self._package


@lru_cache(maxsize=1024)
def _codes(source: bytes) -> tuple[CodeType, ...]:
    """Return what is run for a source: its pieces one behind the other, or all of it where one is no whole."""
    text = source.decode()
    flags = __future__.annotations.compiler_flag if "from __future__ import annotations" in text else 0
    try:
        return tuple(_code(piece, flags) for piece in pieces_of(text))
    except SyntaxError:
        return (_code(text, flags),)


@lru_cache(maxsize=1 << 15)
def _code(text: str, flags: int) -> CodeType:
    code: CodeType = compile(text, "module", "exec", flags, dont_inherit=True)
    return code


def _why(test: Callable[[], object]) -> str:
    try:
        test()
    except Exception as error:
        return repr(error) or "failed"
    return ""
