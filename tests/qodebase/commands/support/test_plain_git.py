"""C git beside a run: branches that many could have pushed, landed here and merged there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from qodebase.commands.bench.support.workload import git
from qodebase.commands.support.reproductions._branching import TooSmall, make_branches
from qodebase.commands.support.reproductions._plain_git import equal_landings
from qodebase.commands.support.reproductions._running import Ran, run
from qodebase.commands.support.reproductions._sources import made
from qodebase.commands.support.starting import Order

FOLDERS, EACH = 2, 5


def text(name: str) -> bytes:
    return "".join(f"{name}_{at} = {at}\nof_{name}_{at} = {at}\nin_{name}_{at} = {at}\n\n" for at in range(20)).encode()


FILES = {f"{folder}/module_{at}.py": text(f"{folder}_{at}") for folder in ("web", "api") for at in range(9)}


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    code = made(tmp_path / "code.git", FILES.items())
    assert make_branches(code, FILES, folders=FOLDERS, each=EACH, seed=1) == ["api", "web"]
    settings = {"branches": ["trains/*"]}
    return run(Order(job="branches", settings=settings, repository=code, out=tmp_path / "run", workers=10))


def compared(ran: Ran, pairs: Iterable[tuple[str, str]], scratch: Path) -> list[bool]:
    return list(equal_landings(ran.folder.repository, ran.folder.settings().base, pairs, scratch))


def landed(ran: Ran) -> list[tuple[str, str]]:
    """Return commit and branch of each landing."""
    tips = {intent.id: intent.given.tip for intent in ran.folder.intents() if intent.given is not None}
    return [(event.commit, tips[event.intent or ""]) for event in ran.landed]


def test_all_branches_land_with_the_trees_that_c_git_merges(ran: Ran, tmp_path: Path) -> None:
    assert ran.audit.ok
    assert compared(ran, landed(ran), tmp_path / "oracle.git") == [True] * FOLDERS * EACH
    told = git(ran.folder.repository, "diff", "--summary", "-M", f"{ran.folder.settings().base}..main").decode()
    kinds = Counter(line.split()[0] for line in told.splitlines())
    assert kinds == {"create": FOLDERS, "delete": FOLDERS, "rename": 2 * FOLDERS, "mode": FOLDERS}


def test_what_landed_otherwise_than_c_git_merges_it_is_told_apart(ran: Ran, tmp_path: Path) -> None:
    (first, one), (second, other), *rest = landed(ran)
    assert compared(ran, [(first, one), (first, other)], tmp_path / "a.git") == [True, False]
    assert compared(ran, [(second, other)], tmp_path / "b.git") == [False]
    conflict = [(commit, tip) for commit, tip in rest[:1] for tip in (tip, _against(ran, tip))]
    assert compared(ran, [(first, one), (second, other), *conflict], tmp_path / "c.git")[-2:] == [True, False]


def _against(ran: Ran, tip: str) -> str:
    """Return a commit on the base that leaves nothing of it, so that it conflicts with every edit."""
    base = ran.folder.settings().base
    tree = git(ran.folder.repository, "mktree", input=b"").strip().decode()
    return git(ran.folder.repository, "commit-tree", tree, "-p", base, "-m", tip).strip().decode()


def test_folders_without_room_are_refused(tmp_path: Path) -> None:
    code = made(tmp_path / "code.git", FILES.items())
    with pytest.raises(TooSmall, match="2 of 3 folders have 3 files that 5 branches can edit apart"):
        make_branches(code, FILES, folders=3, each=EACH, seed=1)
    with pytest.raises(TooSmall, match="0 of 2"):
        make_branches(code, FILES, folders=FOLDERS, each=30, seed=1)
