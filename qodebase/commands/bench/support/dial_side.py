"""One setting of the dial, from the codebase to the score; run as a module, in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from qodebase.clock import SystemClock, VirtualClock
from qodebase.commands.bench.support.dial_grid import setting_of
from qodebase.commands.bench.support.dial_policy import Policy
from qodebase.commands.bench.support.dial_setting import Measured, Setting
from qodebase.commands.bench.support.workload import PERSON, TIME, git
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import surroundings
from qodebase.errors import QodebaseError
from qodebase.rule_settings import RuleSettings
from qodebase.runs import RunFolder

if TYPE_CHECKING:
    import subprocess

    from fleet.jobs.tasks.task import Task
    from qodebase.check import Check
    from qodebase.paths import RepoPath
    from results.scoring.score import Score
    from results.scoring.suite import Suite, Test, TestKind

_START = 1_700_000_000.0


def measure(setting: Setting, own: Path) -> Measured:
    """Take the run, audit it and score it; ``own`` is the setting's folder, in which a cut-off run is begun again."""
    import shutil

    began = time.monotonic()
    for left in ("code", "run"):
        shutil.rmtree(own / left, ignore_errors=True)
    work = _made(setting, own) if not setting.folder else _loaded(setting)
    folder = _run(setting, work, own)
    score = _scored(setting, folder, work)
    return _measured(setting, work, folder, score, time.monotonic() - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is run: the code, the job's settings, the tests, and where the hot tasks aim."""

    repository: Path
    settings: dict[str, Any]
    tasks: tuple[Task, ...]
    neighbours: Mapping[str, Check]
    hot: tuple[str, ...]
    hot_modules: tuple[str, ...]
    share_observed: float


def _made(setting: Setting, own: Path) -> _Work:
    from fleet.jobs.tasks.world import Plan, world_of

    plan = Plan(seed=setting.seed, tasks=setting.tasks, share=setting.share, hot_modules=setting.hot_modules)
    world = world_of(plan)
    return _Work(
        repository=_repository(own / "code", world.files),
        settings={"generated": plan.text},
        tasks=world.tasks,
        neighbours=world.neighbours,
        hot=world.hot,
        hot_modules=tuple(path.text for path in world.hot_modules),
        share_observed=world.share_observed,
    )


def _loaded(setting: Setting) -> _Work:
    from fleet.jobs.tasks.folder import load
    from fleet.jobs.tasks.resampling import Sampling, resampled

    sampling = f"tasks={setting.tasks},share={setting.share},seed={setting.seed}"
    sampled = resampled(load(setting.folder), Sampling.parse(sampling))
    return _Work(
        repository=Path(setting.repository),
        settings={"tasks": setting.folder, "sampled": sampling},
        tasks=sampled.tasks,
        neighbours={},
        hot=sampled.hot,
        hot_modules=tuple(sorted({target.partition("#")[0] for target in sampled.hot})),
        share_observed=sum(task.targets[0] in sampled.hot for task in sampled.tasks) / len(sampled.tasks),
    )


def _repository(path: Path, files: Mapping[RepoPath, bytes]) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "--bare", "-b", "main", ".")
    name, mail = PERSON
    stream = bytearray(f"commit refs/heads/main\ncommitter {name} <{mail}> {TIME} +0000\ndata 4\nbase\n".encode())
    for file, content in sorted(files.items()):
        stream += b"M 100644 inline %s\ndata %d\n%s\n" % (file, len(content), content)
    git(path, "fast-import", "--quiet", input=bytes(stream))
    return path


def _run(setting: Setting, work: _Work, own: Path) -> RunFolder:
    clock = VirtualClock(start=_START) if setting.virtual else SystemClock()
    policy, around = setting.queue, surroundings()
    order = Order(
        job="tasks",
        settings=work.settings,
        repository=work.repository,
        out=own / "run",
        model=setting.model or _editor(setting),
        replay_model=policy.replay_model,
        workers=setting.agents,
        attempts=setting.attempts,
        train_max=policy.train_max,
        prefetch=policy.prefetch,
        contract=policy.contract,
        read_sets=policy.read_sets,
        claims=policy.claims,
        replays=policy.replays,
        lanes=policy.patterns,
        rules=_rules(policy),
        seed=setting.seed,
        source=str(own),
    )
    with prepared(order, around, clock) as ready:
        folder = freeze(ready, clock)
    charge = setting.times.gate_s if setting.virtual else 0.0
    loop = clock.new_event_loop()
    try:
        sat = loop.run_until_complete(sit(folder, around, clock, first=True, charge_s=charge))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    if sat.why != "ended":
        raise QodebaseError(f"the run stopped: {sat.why}", hint=f"Look at it with `qodebase log {folder.root}`.")
    return folder


def _editor(setting: Setting) -> str:
    """Return the scripted model; where time is real it does not wait."""
    times = setting.times
    waits = (
        f",fresh={times.fresh_s},redone={times.redo_s},fresh_spread={times.spread},redone_spread={times.spread}"
        if setting.virtual
        else ""
    )
    return f"editor:seed={setting.seed},wrong={setting.wrong},wrong_redone={setting.wrong_redone}{waits}"


def _rules(policy: Policy) -> RuleSettings:
    """Return the rules of a queue; the sabotage control takes the place of all others."""
    from replay_rules.registry import rule_names

    if policy.rules == "on":
        return RuleSettings()
    if policy.rules == "off":
        return RuleSettings(off=tuple(rule_names()))
    others = tuple(name for name in rule_names() if name != policy.rules)
    return RuleSettings(off=others, bind={policy.rules: ("*",)})


def suite_of(tasks: tuple[Task, ...], neighbours: Mapping[str, Check]) -> Suite:
    """Return a job's tests as the scorer takes them."""
    from results.scoring.suite import Suite, TestKind

    tests = [test for name, check in neighbours.items() for test in _tests("", name, check, TestKind.NEIGHBOUR)]
    for task in tasks:
        tests += _tests(task.id, task.id, task.check, TestKind.CHECK)
        tests += _tests(task.id, f"{task.id}/hidden", task.hidden_check, TestKind.HIDDEN)
    return Suite(tests=tuple(tests), retires={task.id: task.retires for task in tasks if task.retires})


def _tests(intent: str, name: str, check: Check, kind: TestKind) -> list[Test]:
    from qodebase.paths import RepoPath
    from results.scoring.suite import Test

    found = []
    for one in check.tests:
        file, _, function = one.partition("::")
        path = RepoPath(file.encode())
        found.append(Test(name=name, intent=intent, kind=kind, path=path, source=check.files[path], function=function))
    return found


def _scored(setting: Setting, folder: RunFolder, work: _Work) -> Score:
    from results.scoring.runner import plain
    from results.scoring.score import score_run

    suite = suite_of(work.tasks, work.neighbours)
    return score_run(folder, suite, spawn=_apart if setting.model else plain)


def _apart(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start what runs a real model's code: no network, no other processes, nothing written."""
    from results.scoring.runner import plain

    who = () if os.geteuid() == 0 else ("--map-root-user",)
    words = ("unshare", *who, "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c")
    return plain((*words, 'mount -o remount,bind,ro / && exec "$@"', "sh", *command))


def _measured(setting: Setting, work: _Work, folder: RunFolder, score: Score, seconds: float) -> Measured:
    from qodebase.commands.verify import audit_of
    from results.metrics import SCORE

    audit = audit_of(str(folder.root))
    row = score.row(share=setting.share, queue=setting.queue.name, rules=setting.queue.rules, seed=setting.seed)
    (folder.root / SCORE).write_bytes(msgspec.json.encode({**row, **score.judged_answers}))
    return Measured(
        row=row,
        lost=[asdict(loss) for loss in score.lost],
        failing=[asdict(one) for one in score.failing],
        hot_modules=list(work.hot_modules),
        hot_functions=len(work.hot),
        share_observed=work.share_observed,
        balanced=audit.ok and not audit.not_checked,
        real_seconds=seconds,
        judged=score.judged_answers,
    )


if __name__ == "__main__":
    place = Path(sys.argv[1])
    try:
        print(msgspec.json.encode(measure(setting_of(place), place), enc_hook=str).decode())
    except QodebaseError as error:
        print(error.message, file=sys.stderr)
        sys.exit(1)
