from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from qodebase.signing import CannotSign, signer


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    subprocess.run(["git", "init", "-q", tmp_path / "code"], check=True)
    return tmp_path / "code"


def configure(repository: Path, **settings: str) -> None:
    for name, value in settings.items():
        subprocess.run(["git", "-C", repository, "config", name.replace("_", "."), value], check=True)


def test_a_commit_signed_with_ssh_is_one_that_git_verifies(repository: Path, tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no ssh-keygen on this machine")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"person@example.org {key.with_suffix('.pub').read_text()}")
    configure(repository, gpg_format="ssh", user_signingKey=str(key), gpg_ssh_allowedSignersFile=str(allowed))
    tree = subprocess.run(["git", "-C", repository, "mktree"], input=b"", capture_output=True, check=True).stdout
    who = b"Person <person@example.org> 1700000000 +0000"
    lines = [b"tree " + tree.strip(), b"author " + who, b"committer " + who]
    rest = b"\n\nSigned\n"
    signature = signer(repository)(b"\n".join(lines) + rest).strip().replace(b"\n", b"\n ")
    whole = b"\n".join([*lines, b"gpgsig " + signature]) + rest
    commit = subprocess.run(
        ["git", "-C", repository, "hash-object", "-t", "commit", "-w", "--stdin"],
        input=whole,
        capture_output=True,
        check=True,
    ).stdout.strip()
    done = subprocess.run(["git", "-C", repository, "verify-commit", commit], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Good" in done.stderr


def test_signing_with_ssh_needs_a_key(repository: Path) -> None:
    configure(repository, gpg_format="ssh")
    with pytest.raises(CannotSign, match="needs a key") as caught:
        signer(repository)
    assert "user.signingKey" in caught.value.hint


def test_a_format_that_git_does_not_know_is_an_error(repository: Path) -> None:
    configure(repository, gpg_format="wax")
    with pytest.raises(CannotSign, match="'wax' is not known"):
        signer(repository)


def test_a_program_that_fails_or_is_missing_is_an_error_that_says_so(repository: Path) -> None:
    configure(repository, user_signingKey="K", gpg_program="/nonexistent/gpg")
    with pytest.raises(CannotSign, match="/nonexistent/gpg cannot be run"):
        signer(repository)(b"payload")
    configure(repository, gpg_program="false")
    with pytest.raises(CannotSign, match="false did not sign"):
        signer(repository)(b"payload")


def test_the_program_gets_the_payload_and_the_key(repository: Path, tmp_path: Path) -> None:
    program = tmp_path / "sign"
    program.write_text('#!/bin/sh\necho "$@"\ncat\n')
    program.chmod(0o755)
    configure(repository, user_signingKey="KEY", gpg_program=str(program))
    assert signer(repository)(b"payload") == b"--status-fd=2 -bsau KEY\npayload"
