from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from qodebase.paths import CommitId
from results.fsck import Fsck

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun


def _bad_commit(toy: ToyRun, parent: str) -> CommitId:
    """Put a commit on main whose author line no git writes; ``fsck --strict`` refuses it."""
    tree = toy.git("rev-parse", f"{parent}^{{tree}}")
    text = f"tree {tree}\nparent {parent}\nauthor T<t@t> 1 +0000\ncommitter T <t@t> 1 +0000\n\nbad\n"
    commit = CommitId(toy.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text.encode()))
    toy.git("update-ref", "refs/heads/main", commit)
    return commit


def test_a_clean_repository_has_no_findings(honest: ToyRun) -> None:
    check = Fsck(honest.git_dir).check(honest.base, {})
    assert check.ok
    assert check.noted == ()


def test_a_fault_in_a_landing_names_its_intent(toy: ToyRun) -> None:
    bad = _bad_commit(toy, toy.tip)
    check = Fsck(toy.git_dir).check(toy.base, {bad: "edit:top"})
    assert any(bad in finding.message and finding.intents == ("edit:top",) for finding in check.findings)


def test_a_fault_that_is_older_than_the_run_is_noted(toy: ToyRun) -> None:
    bad = _bad_commit(toy, toy.base)
    check = Fsck(toy.git_dir).check(bad, {})
    assert check.ok
    assert any(bad in finding.message for finding in check.noted)


def test_a_check_that_nobody_waits_for_can_be_stopped(honest: ToyRun) -> None:
    fsck = Fsck(honest.git_dir)
    fsck.stop()
    with pytest.raises(ValueError, match="closed file"):
        fsck.check(None, {})
