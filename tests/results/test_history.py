from __future__ import annotations

from typing import TYPE_CHECKING

from qodebase.intent import Ending
from qodebase.paths import CommitId, RepoPath
from results.history import History, read_history
from results.ledger import ledger_of
from results.repository import Repository
from results.run_data import RunData

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun

README = RepoPath(b"README")


def _history(toy: ToyRun) -> History:
    with Repository(toy.git_dir) as repository:
        return read_history(repository.reader, run="toy-1", base=toy.base, tip=toy.tip)


def _revert(toy: ToyRun, commit: CommitId) -> CommitId:
    return toy.add_foreign({README: commit.encode()}, f'Revert "something"\n\nThis reverts commit {commit}.')


def test_the_history_of_a_run_are_its_landings_in_order(honest: ToyRun) -> None:
    history = _history(honest)
    assert [commit.id for commit in history.ours] == honest.ids[1:]
    assert [commit.intent for commit in history.ours] == [work.intent for work in honest.works()]
    assert history.foreign == ()
    assert history.reaches_base


def test_commits_of_people_are_foreign_and_change_no_count(toy: ToyRun) -> None:
    foreign = toy.add_foreign({README: b"by hand"})
    history = _history(toy)
    assert [commit.id for commit in history.foreign] == [foreign]
    ledger = ledger_of(RunData(toy.folder).state, history)
    assert ledger.balanced
    assert (ledger.foreign, ledger.reverted) == (1, 0)


def test_a_reverted_landing_stays_landed_and_is_counted_as_reverted(toy: ToyRun) -> None:
    _revert(toy, toy.commit_of("edit:top"))
    history = _history(toy)
    assert history.reverted == ("edit:top",)
    ledger = ledger_of(RunData(toy.folder).state, history)
    assert ledger.balanced
    assert (ledger.counts[Ending.LANDED], ledger.reverted, ledger.foreign) == (13, 1, 1)


def test_a_reverted_revert_counts_as_none(toy: ToyRun) -> None:
    _revert(toy, _revert(toy, toy.commit_of("edit:top")))
    assert _history(toy).reverted == ()


def test_a_person_may_pick_a_reverted_landing_again(toy: ToyRun) -> None:
    _revert(toy, toy.commit_of("edit:top"))
    message = toy.git("log", "-1", "--format=%B", toy.commit_of("edit:top"))
    again = toy.add_foreign({README: b"again"}, message.strip())
    history = _history(toy)
    assert again in [commit.id for commit in history.foreign]
    assert len(history.landings["edit:top"]) == 1


def test_main_that_no_longer_stands_on_the_base_says_so(toy: ToyRun) -> None:
    tree = toy.git("rev-parse", "main^{tree}")
    toy.git("-c", "user.name=T", "-c", "user.email=t@t", "update-ref", "refs/heads/main", _orphan(toy, tree))
    assert not _history(toy).reaches_base


def _orphan(toy: ToyRun, tree: str) -> str:
    return toy.git("-c", "user.name=T", "-c", "user.email=t@t", "commit-tree", "-m", "another root", tree)


def test_without_a_repository_the_ledger_is_the_journals(honest: ToyRun) -> None:
    ledger = ledger_of(RunData(honest.folder).state, None)
    assert ledger.counts[Ending.LANDED] == 0
    assert not ledger.balanced
    assert len(ledger.discrepancies[0].intents) == 13
