"""A real run of small coding tasks, scored, and counted again by other means."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet.jobs.tasks.fresh import FreshCode
from fleet.jobs.tasks.task import Wrong, test_names
from fleet.jobs.tasks.world import World, generate
from fleet.models.editor import Editing, Editor
from qodebase.clock import VirtualClock
from qodebase.code import CommitTree
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import Surroundings
from qodebase.intent import Ending
from qodebase.paths import RepoPath
from qodebase.runs import RunFolder
from qodebase.trunk.reader import Reader
from results.scoring.answers import Which
from results.scoring.score import Score, score_run
from results.scoring.suite import Suite, Test, TestKind

pytestmark = pytest.mark.full

TASKS = 24
MODEL = "seed=3,wrong=0.4,wrong_redone=0.2,fresh=20,redone=22"


@dataclass(frozen=True)
class Scored:
    """A run, its world, and its score."""

    world: World
    folder: RunFolder
    score: Score


def repository_of(world: World, path: Path) -> Path:
    stream = [b"commit refs/heads/main\ncommitter T <t@t> 1000 +0000\ndata 4\nbase\n"]
    stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (file, len(text), text) for file, text in world.files.items()]
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    return path


def suite_of(world: World) -> Suite:
    tests = []
    for task in world.tasks:
        for kind, files in ((TestKind.CHECK, task.checks), (TestKind.HIDDEN, task.hidden)):
            tests += [
                Test(name=f"{task.id} {kind}", intent=task.id, kind=kind, path=path, source=source, function=function)
                for path, source in files.items()
                for function in test_names(source)
            ]
    for name, check in world.neighbours.items():
        for one in check.tests:
            path, _, function = one.partition("::")
            file = RepoPath(path.encode())
            source = check.files[file]
            tests.append(Test(name=name, kind=TestKind.NEIGHBOUR, path=file, source=source, function=function))
    return Suite(tests=tuple(tests), retires={task.id: task.retires for task in world.tasks})


def run_of(world: World, root: Path) -> RunFolder:
    order = Order(
        job="tasks",
        settings={"generated": world.plan.text},
        repository=repository_of(world, root / "code"),
        out=root / "run",
        model=f"editor:{MODEL}",
        workers=8,
        attempts=2,
        train_max=4,
        unsafe_checks=True,
    )
    clock = VirtualClock(start=1_000_000.0)
    around = Surroundings(environ={}, cache_folder=root / "cache")
    with prepared(order, around, clock) as ready:
        folder = freeze(ready, clock)
    loop = clock.new_event_loop()
    try:
        sat = loop.run_until_complete(sit(folder, around, clock, first=True))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    assert sat.why == "ended"
    return folder


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    world = generate(seed=2, tasks=TASKS, share=0.8)
    folder = run_of(world, tmp_path_factory.mktemp("dial"))
    return Scored(world, folder, score_run(folder, suite_of(world)))


def failures_on_main(scored: Scored) -> dict[str, set[str]]:
    """Return the hidden tests that are red on the final main, by task, run in this process by the job's own means."""
    settings = scored.folder.settings()
    with Reader(scored.folder.repository) as reader:
        tip = reader.tip(settings.branch)
        assert tip is not None
        tree = CommitTree(reader, tip)
        code = FreshCode({path: tree.read(path) for path, _ in tree.walk() if path.endswith(b".py")}, "shop")
    return {
        task.id: {name for path, source in task.hidden.items() for name in code.failures(path, source)}
        for task in scored.world.tasks
    }


def test_the_same_intents_pass_as_when_the_final_main_is_loaded_here(scored: Scored) -> None:
    failing = {intent for intent, red in failures_on_main(scored).items() if red}
    assert {one.intent for one in scored.score.failing} == failing
    assert scored.score.passing == TASKS - len(failing)
    assert 0 < len(failing) < TASKS


def test_an_answer_is_wrong_where_the_model_meant_it_to_be_and_in_that_way(scored: Scored) -> None:
    editor = Editor("editor", Editing.parse(MODEL), VirtualClock(start=0.0))
    words = {None: "", Wrong.FAILS: "check", Wrong.MISSES: "hidden", Wrong.BREAKS: "neighbour"}
    meant = {which: words[editor.draw(*which).wrong] for which in scored.score.judged}
    assert {which: judged.wrong for which, judged in scored.score.judged.items()} == meant
    assert {"", "check", "hidden", "neighbour"} == set(meant.values())
    assert Which(scored.world.tasks[0].id, 1, 0) in meant
    assert scored.score.unread == {}


def test_what_the_gate_sees_does_not_reach_main_and_what_it_does_not_is_named(scored: Scored) -> None:
    score = scored.score
    assert score.ledger.balanced
    landed = score.ledger.counts[Ending.LANDED]
    own = [one for one in score.failing if one.why == "lost own"]
    not_landed = [one for one in score.failing if one.why.startswith("not landed: ")]
    assert len(own) + len(not_landed) == len(score.failing)
    assert len(not_landed) == TASKS - landed
    assert [loss for loss in score.lost if loss.cause == "lost in landing"] == []
    assert {loss.kind for loss in score.lost} <= {TestKind.HIDDEN}


def test_the_row_of_a_real_run_adds_up(scored: Scored) -> None:
    row = scored.score.row(share=0.8, queue="lanes", rules=True, seed=2)
    assert row["required"] == TASKS
    assert row["clock"] == "virtual"
    assert row["minutes"] > 0.5
    assert row["test_runs"] > 0
    assert row["wait_p50_s"] <= row["wait_p99_s"]
    redone = row["redone_by_merge"] + row["redone_by_rule"] + row["redone_by_model"]
    assert 0 < redone <= row["collided"]
    assert row["conflicted"] <= row["collided"]
    assert row["collided"] >= row["touched"] > 0
