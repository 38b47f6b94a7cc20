"""Tasks in a folder: written and read back, and every fault named with its file and field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fleet.jobs.tasks.folder import NoTaskFolder, load, save
from fleet.jobs.tasks.resampling import Sampling, TooFewTasks, hot_targets, resampled
from fleet.jobs.tasks.task import Task
from fleet.jobs.tasks.world import generate
from qodebase.codec import BadData
from qodebase.paths import RepoPath

CHECK = "def test_it() -> None:\n    assert True\n"


def put(root: Path, name: str, toml: str, **files: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(toml)
    for kind, source in files.items():
        (folder / kind).mkdir()
        (folder / kind / "test_one.py").write_text(source)
    return folder


def test_generated_tasks_come_back_as_they_were_but_for_their_recipes(tmp_path: Path) -> None:
    tasks = generate(tasks=60, share=0.6).tasks
    save(tasks, str(tmp_path))
    assert load(str(tmp_path)) == tuple(replace(task, recipe=None) for task in tasks)


def test_a_task_by_hand_needs_a_text_paths_and_a_check(tmp_path: Path) -> None:
    put(tmp_path, "fix-it", 'text = "Fix it."\npaths = ["shop/orders.py"]\n', checks=CHECK, hidden=CHECK)
    (task,) = load(str(tmp_path))
    assert (task.id, task.text, task.paths) == ("fix-it", "Fix it.", (RepoPath(b"shop/orders.py"),))
    assert task.check.tests == ("checks/test_fix_it_test_one.py::test_it",)
    assert task.hidden_check.tests == ("hidden/test_fix_it_test_one.py::test_it",)


def test_test_files_of_all_tasks_have_paths_of_their_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        put(tmp_path, name, 'text = "x"\npaths = ["m.py"]\n', checks=CHECK, hidden=CHECK)
    paths = [path for task in load(str(tmp_path)) for path in (*task.checks, *task.hidden)]
    assert len(set(paths)) == 4


@pytest.mark.parametrize(
    ("toml", "checks", "said"),
    [
        ('paths = ["m.py"]\n', CHECK, "`text` is missing"),
        ('text = "x"\n', CHECK, "`paths` is missing"),
        ('text = "x"\npaths = "m.py"\n', CHECK, "`paths` must be an array of texts"),
        ('text = 3\npaths = ["m.py"]\n', CHECK, "`text` must be a text"),
        ('text = "x"\npaths = ["../m.py"]\n', CHECK, "`paths` holds '../m.py'"),
        ('text = "x"\npaths = ["m.js"]\n', CHECK, "no Python file"),
        ('text = "x"\npaths = ["m.py"]\ntargets = ["f"]\n', CHECK, "`targets` holds 'f'"),
        ('text = "x"\npaths = ["m.py"]\ncolour = "x"\n', CHECK, "unknown field `colour`"),
        ("text = \n", CHECK, "no TOML"),
        ('text = "x"\npaths = ["m.py"]\n', "def test_it(:\n", "test_one.py: no Python"),
        ('text = "x"\npaths = ["m.py"]\n', "A = 1\n", "test_one.py: no test function"),
    ],
)
def test_a_fault_names_its_file_and_field(tmp_path: Path, toml: str, checks: str, said: str) -> None:
    put(tmp_path, "one", toml, checks=checks)
    with pytest.raises(BadData) as raised:
        load(str(tmp_path))
    assert said in str(raised.value)
    assert str(tmp_path / "one") in str(raised.value)


def test_a_task_without_checks_two_alike_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NoTaskFolder, match="holds no task"):
        load(str(tmp_path))
    with pytest.raises(NoTaskFolder, match="is no folder"):
        load(str(tmp_path / "never"))
    toml = 'id = "same"\ntext = "x"\npaths = ["m.py"]\n'
    put(tmp_path, "a", toml, checks=CHECK)
    put(tmp_path, "b", toml, checks=CHECK)
    with pytest.raises(BadData, match="`id` is 'same'"):
        load(str(tmp_path))
    put(tmp_path / "other", "a", toml)
    with pytest.raises(BadData, match=r"no checks/\*\.py"):
        load(str(tmp_path / "other"))


def aimed(targets: str) -> list[Task]:
    return [
        Task(id=f"t{number}", kind="k", text="x", paths=(RepoPath(b"m.py"),), targets=(f"m.py#{target}",))
        for number, target in enumerate(targets)
    ]


def test_a_share_is_drawn_between_hot_targets_and_others() -> None:
    tasks = aimed("aaaabbbcdefghijk")
    assert hot_targets(tasks) == ("m.py#a", "m.py#b")
    drawn = resampled(tasks, Sampling.parse("tasks=10,share=0.6,seed=1"))
    assert sum(task.targets[0] in drawn.hot for task in drawn.tasks) == 6
    assert len({task.id for task in drawn.tasks}) == 10
    assert drawn == resampled(tasks, Sampling(tasks=10, share=0.6, seed=1))
    assert drawn != resampled(tasks, Sampling(tasks=10, share=0.6, seed=2))
    assert len(resampled(tasks, Sampling(share=0.5)).tasks) == 14


@pytest.mark.parametrize(
    ("sampling", "said"),
    [
        ("tasks=10,share=0.9", "needs 9 on hot targets, and there are 7"),
        ("tasks=12,share=0", "needs 12 on other targets, and there are 9"),
        ("share=2", "`share` 0 to 1"),
        ("size=3", "no `size`"),
        ("tasks=x", "must be a number"),
    ],
)
def test_a_share_that_the_tasks_do_not_have_is_refused(sampling: str, said: str) -> None:
    with pytest.raises(TooFewTasks, match=said):
        resampled(aimed("aaaabbbcdefghijk"), Sampling.parse(sampling))


def test_tasks_without_targets_have_no_share() -> None:
    bare = Task(id="bare", kind="k", text="x", paths=(RepoPath(b"m.py"),))
    with pytest.raises(TooFewTasks, match="bare names no `targets`"):
        resampled([*aimed("ab"), bare], Sampling())
