"""What a repository's own configuration asks of who writes to it (git-config(1))."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from dulwich.config import ConfigFile

_TRUE = frozenset({b"true", b"yes", b"on", b"1", b""})
_GROUP = frozenset({b"group", b"true", b"yes", b"on", b"1", b""})
_EVERYBODY = frozenset({b"all", b"world", b"everybody", b"2"})
_NOBODY = frozenset({b"umask", b"false", b"no", b"off", b"0"})


class UnsupportedRepository(QodebaseError):
    """A git repository of a kind that qodebase does not write."""


class Shared(NamedTuple):
    """Permissions that files get beyond the umask, or, where ``exact``, whatever the umask is."""

    bits: int
    exact: bool = False


NOT_SHARED = Shared(0)


class Wishes(NamedTuple):
    """What a configuration asks for.

    ``bare`` says that no working tree belongs to the repository itself, ``logs`` that reflogs are begun for branches
    and notes; one that exists is always written on.
    """

    bare: bool
    logs: bool
    shared: Shared


def read_config(git: Path) -> ConfigFile:
    """Return a repository's configuration file, parsed; an empty one where there is none.

    Raises:
        UnsupportedRepository: it is no configuration.
    """
    from dulwich.config import ConfigFile

    try:
        return ConfigFile.from_path(str(git / "config"))
    except FileNotFoundError:
        return ConfigFile()
    except ValueError as error:
        raise UnsupportedRepository(f"{git / 'config'} cannot be read: {error}") from None


def value(config: ConfigFile, section: bytes, key: bytes) -> bytes | None:
    """Return a value in lower case, or None where it is not set."""
    try:
        return config.get((section,), key).lower()
    except KeyError:
        return None


def wishes_of(git: Path) -> Wishes:
    """Read what the configuration asks for.

    Raises:
        UnsupportedRepository: `core.sharedRepository` says nothing that git knows.
    """
    config = read_config(git)
    bare_word = value(config, b"core", b"bare")
    alone = git.name != ".git" and value(config, b"core", b"worktree") is None
    bare = alone if bare_word is None else bare_word in _TRUE
    logs = value(config, b"core", b"logallrefupdates")
    return Wishes(
        bare=bare,
        logs=not bare if logs is None else logs == b"always" or logs in _TRUE,
        shared=_shared(git, value(config, b"core", b"sharedrepository")),
    )


def _shared(git: Path, word: bytes | None) -> Shared:
    if word is None or word in _NOBODY:
        return NOT_SHARED
    if word in _GROUP:
        return Shared(0o660)
    if word in _EVERYBODY:
        return Shared(0o664)
    if re.fullmatch(rb"[0-7]{3,5}", word) and int(word, 8) & 0o600 == 0o600:
        return Shared(int(word, 8) & 0o666, exact=True)
    raise UnsupportedRepository(
        f"{git / 'config'}: core.sharedRepository is {word.decode(errors='replace')!r}",
        hint="It is umask, group, all, or a mode such as 0640.",
    )
