"""A real run of a small job under the virtual clock, and the command line in this process."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qodebase.cli import make_app
from qodebase.clock import VirtualClock
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import Surroundings
from qodebase.ports import Answer, Failure, NoAnswer, Prompt
from qodebase.runs import RunFolder

JOB = Path(__file__).parents[2] / "support" / "edit_job.py"
EDITS = ("a.py=# A", "b.py=# B", "b.py=# B2", "b.py=# fails", "c.py=# dear", "c.py=# none")


class SlowModel:
    """Answers after a virtual second with the line that the job asks for; some lines mean that it fails."""

    name = "slow"
    deterministic = True
    simulated = True
    local = True

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        await self._clock.sleep(1.0)
        line = prompt.facts["scripted"]
        replay = not prompt.messages[0].text.endswith(" 0")
        if line == "# none" or (line == "# fails" and replay):
            return NoAnswer(failure=Failure.EMPTY, why="nothing was said", model=self.name)
        cost = None if line == "# dear" else 0.25
        return Answer(text=line, model=self.name, input_tokens=5, output_tokens=2, cost_usd=cost)

    async def close(self) -> None:
        pass


def make_repository(path: Path) -> Path:
    """Make a repository with three files."""
    path.mkdir()
    for name in "abc":
        (path / f"{name}.py").write_text(f"name = {name!r}\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@t", *words], cwd=path, check=True)
    return path


def make_run(root: Path, name: str, *, edits: tuple[str, ...] = EDITS, seed: int = 0, workers: int = 8) -> RunFolder:
    """Run the job on a new repository below ``root`` and return the run's folder."""
    clock = VirtualClock(1000.0)
    model = SlowModel(clock)
    order = Order(
        job="",
        job_file=str(JOB),
        settings={"edits": edits},
        repository=make_repository(root / "code"),
        out=root / "runs" / name,
        model="slow",
        workers=workers,
        seed=seed,
    )
    surroundings = Surroundings(environ={}, cache_folder=root / "cache")
    with prepared(order, surroundings, clock, model) as ready:
        folder = freeze(ready, clock)
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(sit(folder, surroundings, clock, first=True, model=model))
    return folder


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``runs/one``; nobody may change it."""
    root = tmp_path_factory.mktemp("home")
    make_run(root, "one")
    return root


@pytest.fixture
def copy(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A copy of the run that a test may change, in ``runs/one`` below the current folder."""
    shutil.copytree(home / "runs", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    return RunFolder(tmp_path / "runs" / "one")


Call = Callable[..., Result]
Make = Callable[..., RunFolder]


@pytest.fixture(scope="session")
def make() -> Make:
    """Return the function that makes a run; see `make_run`."""
    return make_run


@pytest.fixture
def call(home: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call the command line in the folder that holds the run, or where ``copy`` went."""
    if not Path("runs/one").is_dir():
        monkeypatch.chdir(home)

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(make_app(), arguments, prog_name="qodebase")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def killed(copy: RunFolder) -> Callable[[str], RunFolder]:
    """Make the copy what it would be had the run been killed before the journal said that an intent landed."""

    def before(intent: str) -> RunFolder:
        lines = copy.journal.read_bytes().splitlines(keepends=True)
        events = [json.loads(line) for line in lines]
        end = next(at for at, event in enumerate(events) if event["kind"] == "landed" and event["intent"] == intent)
        copy.journal.write_bytes(b"".join(lines[:end]))
        return copy

    return before
