"""Sign commits as the user's git is set up to: OpenPGP, X.509 or SSH."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.git_environment import users_environment


class CannotSign(QodebaseError):
    """A signature that could not be made."""


def signer(repository: Path) -> Callable[[bytes], bytes]:
    """Return a function from a commit's bytes to its armoured signature, by the repository's ``gpg.*`` settings.

    Raises:
        CannotSign: the format is one that git does not know.
    """
    kind = _setting(repository, "gpg.format") or "openpgp"
    key = _setting(repository, "user.signingKey")
    if kind == "ssh":
        program = _setting(repository, "gpg.ssh.program") or "ssh-keygen"
        if not key:
            raise CannotSign("--sign needs a key", hint="git config user.signingKey PATH-TO-KEY")
        return lambda payload: _ssh(program, key, payload)
    if kind not in ("openpgp", "x509"):
        raise CannotSign(f"gpg.format {kind!r} is not known", hint="git config gpg.format openpgp")
    program = _setting(repository, f"gpg.{kind}.program") or _setting(repository, "gpg.program") or "gpg"
    words = [program, "--status-fd=2", "-bsau", key or _committer(repository)]
    return lambda payload: _run(words, payload)


def _ssh(program: str, key: str, payload: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "payload"
        file.write_bytes(payload)
        _run([program, "-Y", "sign", "-n", "git", "-f", str(Path(key).expanduser()), str(file)], b"")
        return (file.parent / "payload.sig").read_bytes()


def _run(words: list[str], payload: bytes) -> bytes:
    try:
        done = subprocess.run(words, input=payload, capture_output=True, check=False)
    except OSError as error:
        raise CannotSign(f"{words[0]} cannot be run: {error}", hint="git config gpg.program PROGRAM") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise CannotSign(f"{words[0]} did not sign: {said}", hint="Try `git commit -S` in the repository.")
    return done.stdout


def _setting(repository: Path, name: str) -> str:
    done = _asked(repository, "config", "--get", name)
    return done.stdout.decode().strip()


def _committer(repository: Path) -> str:
    """Return who git would name as the committer.

    Raises:
        CannotSign: git knows nobody.
    """
    done = _asked(repository, "var", "GIT_COMMITTER_IDENT")
    name, closing, _ = done.stdout.decode().rpartition(">")
    if done.returncode != 0 or not closing:
        raise CannotSign("--sign needs a key or an identity", hint="git config user.signingKey KEY")
    return name + closing


def _asked(repository: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(repository), *words]
    return subprocess.run(command, capture_output=True, check=False, env=users_environment())
