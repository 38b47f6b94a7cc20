"""The tasks job: intents, prompts, answers as hunks, and checks that pytest runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tasks_world import MemoryTree, job_of

from fleet.jobs.registry import job_names, load_job, make_job
from fleet.jobs.tasks.answers import FORMAT
from fleet.jobs.tasks.folder import save
from fleet.jobs.tasks.job import NoTasks, Tasks
from fleet.jobs.tasks.world import generate
from fleet.models.editor import written
from fleet.screening import screen
from qodebase.change import REGULAR, Change, Patch, Write
from qodebase.check import proved
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Accepted, HasChecks, Job, Landing, Unusable
from replay_rules.parsing import parse

CHECK = b"from m import f\n\n\ndef test_it() -> None:\n    assert f(1) == 2\n"
SOURCE = b"def f(amount):\n    return amount\n"


def by_hand(tmp_path: Path, paths: str = '["m.py"]', **settings: object) -> Job:
    folder = tmp_path / "tasks" / "one"
    (folder / "checks").mkdir(parents=True)
    (folder / "task.toml").write_text(f'text = "Let f add one."\npaths = {paths}\n')
    (folder / "checks" / "test_it.py").write_bytes(CHECK)
    return make_job(Tasks, {"tasks": str(tmp_path / "tasks"), **settings}, source="test")


def the_intent(job: Job, tree: MemoryTree) -> Intent:
    job.open(tree)
    (intent,) = job.intents()
    return intent


def test_the_job_is_found_by_its_name() -> None:
    assert "tasks" in job_names()
    assert load_job("tasks") is Tasks


def test_intents_carry_scope_checks_and_what_they_retire() -> None:
    world = generate(tasks=60, share=0.6)
    job = job_of(world)
    intents = list(job.intents())
    assert [intent.id for intent in intents] == [task.id for task in world.tasks]
    for intent, task in zip(intents, world.tasks, strict=True):
        assert (intent.scope, intent.checks, intent.retires) == (task.paths, (task.id,), task.retires)
        assert (intent.symbols, intent.ending) == (task.targets, Ending.PENDING)
    assert isinstance(job, HasChecks)
    checks = proved(job.checks())
    assert set(checks) == {*(task.id for task in world.tasks), *world.neighbours}
    assert set(job.lanes()) == {path.decode()[5:-3] for path in world.files if not path.endswith(b"__init__.py")}


def test_every_answer_of_the_editor_is_within_its_scope_and_compiles() -> None:
    world = generate(tasks=60, share=0.6)
    job, tree = job_of(world), MemoryTree(world.files)
    for intent, task in zip(job.intents(), world.tasks, strict=True):
        accepted = job.accept(intent, written(task, job.prompt(intent, tree).facts["sources"]), tree)
        assert isinstance(accepted, Accepted)
        assert screen(intent, accepted.change, tree, ()) == ""
        assert str(job.proof(intent, accepted.change, tree)).startswith("compiles: ")
        assert all(isinstance(operation, Patch) for operation in accepted.change.operations)
        after = tree.with_change(accepted.change)
        for path in accepted.change.paths:
            assert not parse("python", after.files[path]).has_error
        landing = Landing(intent=intent, change=accepted.change, commit=tree.commit, parent=tree.commit)
        assert job.audit().proof(landing, tree, after, full=True) == ""


def test_a_prompt_shows_the_task_its_checks_the_files_and_the_form_of_an_answer(tmp_path: Path) -> None:
    job, tree = by_hand(tmp_path), MemoryTree({RepoPath(b"m.py"): SOURCE})
    intent = the_intent(job, tree)
    system, user = job.prompt(intent, tree).messages
    assert FORMAT in system.text
    assert "Let f add one." in user.text
    assert CHECK.decode() in user.text
    assert f"FILE m.py\n```python\n{SOURCE.decode()}```" in user.text


def test_answers_become_hunks_and_what_is_none_is_an_ending(tmp_path: Path) -> None:
    job, tree = by_hand(tmp_path), MemoryTree({RepoPath(b"m.py"): SOURCE})
    intent = the_intent(job, tree)
    good = job.accept(intent, "```python\ndef f(amount):\n    return amount + 1\n```", tree)
    assert isinstance(good, Accepted)
    assert tree.with_change(good.change).files[RepoPath(b"m.py")] == SOURCE.replace(b"amount\n", b"amount + 1\n")
    for answer, ending, why in (
        ("Sorry.", Ending.NO_ANSWER, "no usable answer"),
        ("```python\ndef f(:\n```", Ending.NO_ANSWER, "does not parse"),
        ("FILE n.py\n```python\nA = 1\n```", Ending.REFUSED, "outside its scope: n.py"),
        ("GONE there is no f", Ending.REFUSED, "there is no f"),
    ):
        bad = job.accept(intent, answer, tree)
        assert isinstance(bad, Unusable)
        assert (bad.ending, why in bad.why) == (ending, True)


def test_a_change_that_does_not_compile_is_refused_and_found_by_the_audit(tmp_path: Path) -> None:
    job, tree = by_hand(tmp_path), MemoryTree({RepoPath(b"m.py"): SOURCE})
    intent = the_intent(job, tree)
    change = Change(base=tree.commit, operations=(Write(path=RepoPath(b"m.py"), content=b"return 1\n"),))
    proof = job.proof(intent, change, tree)
    assert isinstance(proof, Unusable)
    assert "m.py does not compile" in proof.why
    landing = Landing(intent=intent, change=change, commit=tree.commit, parent=tree.commit)
    assert "does not compile" in job.audit().proof(landing, tree, tree.with_change(change), full=False)


def test_a_task_can_ask_for_a_new_file(tmp_path: Path) -> None:
    job, tree = by_hand(tmp_path, '["m.py", "n.py"]'), MemoryTree({RepoPath(b"m.py"): SOURCE})
    intent = the_intent(job, tree)
    made = job.accept(intent, "FILE n.py\n```python\nimport os\n\nA = 1\n\n\ndef g():\n    return A\n```", tree)
    assert isinstance(made, Accepted)
    after = tree.with_change(made.change)
    assert after.entry(RepoPath(b"n.py")) is not None
    assert after.entry(RepoPath(b"n.py")).mode == REGULAR  # type: ignore[union-attr]
    assert b"import os" in after.files[RepoPath(b"n.py")]
    assert not isinstance(job.proof(intent, made.change, tree), Unusable)


def test_a_file_that_no_prompt_can_show_is_skipped(tmp_path: Path) -> None:
    job = by_hand(tmp_path, most_text=10)
    skipped = the_intent(job, MemoryTree({RepoPath(b"m.py"): SOURCE}))
    assert (skipped.ending, "33 bytes" in skipped.reason) == (Ending.SKIPPED, True)
    job = by_hand(tmp_path / "other")
    assert the_intent(job, MemoryTree({RepoPath(b"m.py"): b"\xff\n"})).ending is Ending.SKIPPED


def test_settings_that_name_no_tasks_or_another_codebase_are_refused(tmp_path: Path) -> None:
    for settings in ({}, {"tasks": "x", "generated": "tasks=60"}, {"generated": "tasks=60", "sampled": "tasks=3"}):
        with pytest.raises(NoTasks):
            make_job(Tasks, settings, source="test")
    job = make_job(Tasks, {"generated": "tasks=60"}, source="test")
    with pytest.raises(NoTasks, match="not as in the codebase"):
        job.open(MemoryTree(generate(tasks=60, seed=1).files))


def test_a_digest_tells_other_tasks_apart(tmp_path: Path) -> None:
    one, other = by_hand(tmp_path / "a"), by_hand(tmp_path / "b")
    assert one.digest == other.digest
    (tmp_path / "b" / "tasks" / "one" / "checks" / "test_it.py").write_bytes(CHECK.replace(b"2", b"3"))
    assert make_job(Tasks, {"tasks": str(tmp_path / "b" / "tasks")}, source="test").digest != one.digest


def test_part_of_a_folder_can_be_taken(tmp_path: Path) -> None:
    save(generate(tasks=200, share=0.5).tasks, str(tmp_path))
    job = make_job(Tasks, {"tasks": str(tmp_path), "sampled": "tasks=40,share=0.5"}, source="test")
    job.open(MemoryTree(generate(tasks=200, share=0.5).files))
    assert len(list(job.intents())) == 40


def test_pytest_runs_checks_hidden_tests_and_neighbour_checks_as_they_are(tmp_path: Path) -> None:
    world = generate(tasks=60, share=0.6)
    job, tree = job_of(world), MemoryTree(world.files)
    task = world.tasks[0]
    intent = next(iter(job.intents()))
    accepted = job.accept(intent, written(task, job.prompt(intent, tree).facts["sources"]), tree)
    assert isinstance(accepted, Accepted)
    module = task.paths[0].decode()[5:-3]
    neighbours = [check for name, check in world.neighbours.items() if name.startswith(f"base/{module}.")]
    checks = [task.check, task.hidden_check, *neighbours]
    overlay = {path: source for check in checks for path, source in check.files.items()}
    for path, source in {**tree.with_change(accepted.change).files, **overlay}.items():
        file = tmp_path / path.decode()
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(source)
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *(test for one in checks for test in one.tests),
    ]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    failed = set(task.retires)
    assert f"{len(neighbours) + 2 - len(failed)} passed" in done.stdout, done.stdout[-2000:]
