"""A local model: the real child program, with a package in place of the runtime that loads no weights."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fleet.models import local
from fleet.models.local import LocalModel, NoRuntime, NoWeights, Order, ServerFailed, create
from fleet.models.registry import BadModel, ModelContext, ModelTable, UnknownModel, create_model, parse_spec, price_of
from fleet.models.weights import known_weights, weights_named
from qodebase.clock import SystemClock
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt

FAKE = Path(__file__).parents[2] / "support" / "fake_runtime"
Make = Callable[..., LocalModel]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in where this process and its children find the runtime."""
    monkeypatch.syspath_prepend(str(FAKE))
    monkeypatch.setenv("PYTHONPATH", str(FAKE))


@pytest.fixture
def make(tmp_path: Path, runtime: None) -> Make:
    """Return a maker of models of a file that says what the server does."""

    def made(**does: Any) -> LocalModel:
        path = tmp_path / "tiny.gguf"
        path.write_text(json.dumps(does))
        context = ModelContext(environ={}, cache_folder=tmp_path, clock=SystemClock())
        model = create_model(parse_spec(f"local:{path}", {}), context)
        assert isinstance(model, LocalModel)
        return model

    return made


def asked(text: str = "Hello.", limit: int = 50) -> Prompt:
    return Prompt(messages=(Message(role="user", text=text),), max_output_tokens=limit)


async def ask_for_ever(model: LocalModel, outcomes: list[Answer | NoAnswer]) -> None:
    while True:
        outcomes.append(await model.answer(asked()))


def gone(pid: int) -> bool:
    """Return whether a process, ours or not, has ended or ends within 20 seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 20)[0])
    finally:
        os.close(handle)


def test_the_server_starts_with_the_first_call_and_ends_with_the_model(make: Make) -> None:
    async def main() -> tuple[Answer | NoAnswer, int]:
        model = make()
        assert model.pid is None
        answer = await model.answer(asked("Who?"))
        pid = model.pid
        await model.close()
        assert model.pid is None
        assert pid is not None
        return answer, pid

    answer, pid = asyncio.run(main())
    assert gone(pid)
    assert isinstance(answer, Answer)
    assert (answer.input_tokens, answer.output_tokens, answer.cost_usd) == (7, 3, 0.0)
    said = json.loads(answer.text)
    assert (said["asked"], said["slots"], said["cache"], said["max_tokens"]) == ("Who?", 8, 0, 50)


def test_the_server_finds_settings_and_no_keys(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("GGML_SETTING", "7")

    async def main() -> bytes:
        model = make()
        try:
            await model.answer(asked())
            return await asyncio.to_thread(Path(f"/proc/{model.pid}/environ").read_bytes)
        finally:
            await model.close()

    found = asyncio.run(main())
    assert b"GGML_SETTING=7" in found
    assert b"sk-of-somebody-else" not in found


def test_a_local_model_costs_nothing_stays_here_and_is_a_language_model(make: Make) -> None:
    model = make()
    assert (model.local, model.deterministic, model.simulated, model.most_in_flight) == (True, False, False, 8)
    price = price_of(parse_spec("local:smollm2", {}))
    assert price is not None
    assert price.most(1000, 1000) == 0


def test_calls_at_the_same_time_share_one_server_which_a_ctrl_c_does_not_reach(make: Make) -> None:
    async def main() -> None:
        model = make()
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(model.answer(asked(str(at))), name=f"call {at}") for at in range(20)]
            assert [json.loads(task.result().text)["asked"] for task in tasks] == [str(at) for at in range(20)]
            assert model.pid is not None
            assert os.getpgid(model.pid) != os.getpgid(0)
            assert os.getppid() != model.pid
        finally:
            await model.close()

    asyncio.run(main())


def test_a_prompt_that_is_too_long_is_a_value(make: Make) -> None:
    async def main() -> Answer | NoAnswer:
        model = make()
        try:
            return await model.answer(asked("x" * 5000))
        finally:
            await model.close()

    answer = asyncio.run(main())
    assert isinstance(answer, NoAnswer)
    assert (answer.failure, answer.retry) == (Failure.TOO_LONG, False)
    assert "5000 tokens" in answer.why


def test_a_server_that_ended_is_started_again_and_not_for_ever(make: Make) -> None:
    async def main() -> list[Answer | NoAnswer]:
        model = make(die_after=2)
        outcomes: list[Answer | NoAnswer] = []
        with pytest.raises(ServerFailed, match="ended 3 times") as caught:
            await ask_for_ever(model, outcomes)
        assert caught.value.exit_code == 3
        assert model.pid is None
        return outcomes

    outcomes = asyncio.run(main())
    lost = [outcome for outcome in outcomes if isinstance(outcome, NoAnswer)]
    assert len(outcomes) - len(lost) == 3
    assert len(lost) >= 3
    assert all(outcome.retry for outcome in lost)


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ({"fail": "model is corrupted"}, "tiny.gguf does not start: model is corrupted"),
        ({"abort": 7}, "tiny.gguf does not start: loading"),
    ],
)
def test_a_server_that_does_not_start_says_why(make: Make, does: Any, why: str) -> None:
    async def main() -> None:
        model = make(**does)
        try:
            await model.answer(asked())
        finally:
            await model.close()
            assert model.pid is None

    with pytest.raises(ServerFailed) as caught:
        asyncio.run(main())
    assert caught.value.message.endswith(why)
    assert "models list" in caught.value.hint


def test_a_server_that_is_not_ready_in_time_is_an_error(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "START_S", 0.2)
    monkeypatch.setattr(local, "STOP_S", 0.2)

    async def main() -> None:
        model = make(hang=True)
        with pytest.raises(ServerFailed, match="not ready within"):
            await model.answer(asked())
        assert model.pid is None

    asyncio.run(main())


def test_a_run_that_is_cancelled_while_the_server_starts_leaves_none(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "STOP_S", 0.2)

    async def main() -> int:
        model = make(hang=True)
        task = asyncio.create_task(model.answer(asked()), name="call")
        while model.pid is None:
            await asyncio.wait([task], timeout=0.01)
        pid = model.pid
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()
        return pid

    assert gone(asyncio.run(main()))


KILLED = """
import asyncio, sys
from pathlib import Path
from fleet.models.local import LocalModel, Order
from fleet.models.registry import ModelTable
from qodebase.clock import SystemClock
from qodebase.ports import Message, Prompt

async def main():
    model = LocalModel("tiny", Order(weights=Path(sys.argv[1])), ModelTable(adapter="local"), SystemClock())
    await model.answer(Prompt(messages=(Message(role="user", text="x"),), max_output_tokens=5))
    print(model.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_the_server_ends_when_its_parent_is_killed(tmp_path: Path, runtime: None) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_text("{}")
    words = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert gone(pid)


def weighing(tmp_path: Path, size: int | None) -> ModelContext:
    """Return a context with a folder that holds weights of so many bytes (a sparse file)."""
    if size is not None:
        with weights_named("smollm2").path(tmp_path).open("wb") as file:
            file.truncate(size)
    return ModelContext(environ={}, cache_folder=tmp_path, clock=SystemClock(), weights_folder=tmp_path)


def test_fetched_weights_are_served_as_their_table_says(tmp_path: Path, runtime: None) -> None:
    weights = weights_named("smollm2")
    table = ModelTable(adapter="local", model="smollm2", params={"temperature": 0.9}, timeout_s=5)
    tables = {"small": table}
    for spec in (parse_spec("local:smollm2", {}), parse_spec("small", tables)):
        model = create(spec, weighing(tmp_path, weights.size))
        assert model.most_in_flight == weights.slots
        assert lacks_nothing(tmp_path)


def lacks_nothing(folder: Path) -> bool:
    return local.lacks(weighing(folder, None)) == ""


@pytest.mark.parametrize(("size", "state"), [(None, "missing"), (5, "damaged")])
def test_weights_that_are_not_there_whole_say_how_to_get_them(
    tmp_path: Path, runtime: None, size: int | None, state: str
) -> None:
    context = weighing(tmp_path, size)
    with pytest.raises(NoWeights, match=state) as caught:
        create(parse_spec("local:smollm2", {}), context)
    assert caught.value.hint == "qodebase models fetch smollm2"
    assert local.lacks(context) == "qodebase models fetch smollm2"


def test_a_missing_runtime_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_RUNTIME", "no_such_runtime_here")
    context = weighing(tmp_path, weights_named("smollm2").size)
    with pytest.raises(NoRuntime) as caught:
        create(parse_spec("local:smollm2", {}), context)
    assert caught.value.hint == "pip install 'qodebase[local]'"
    assert local.lacks(context) == "pip install 'qodebase[local]'"


def test_what_names_no_weights_is_an_error(tmp_path: Path, runtime: None) -> None:
    context = weighing(tmp_path, None)
    with pytest.raises(BadModel, match="names no weights"):
        create(parse_spec("local", {}), context)
    with pytest.raises(UnknownModel, match="did you mean `smollm2`"):
        create(parse_spec("local:smolm2", {}), context)
    with pytest.raises(NoWeights, match="no weights at"):
        create(parse_spec(f"local:{tmp_path}/none.gguf", {}), context)
    table = ModelTable(adapter="local", model="smollm2", params={"n": 2})
    with pytest.raises(BadModel, match="must not set n"):
        create(parse_spec("small", {"small": table}), context)


def test_the_pinned_weights_are_whole_records() -> None:
    for name, weights in known_weights().items():
        assert weights.name == name
        assert len(bytes.fromhex(weights.sha256)) == 32
        assert weights.member.endswith(".gguf")
        assert Order(weights=Path("x"), slots=weights.slots, window=weights.window).slots > 0


@pytest.mark.full
def test_a_real_model_answers(tmp_path: Path) -> None:
    from qodebase.commands.support.surroundings import surroundings

    folder = surroundings().weights_folder
    if find_spec("xllamacpp") is None:
        pytest.skip("needs the runtime: pip install 'qodebase[local]'")
    if weights_named("smollm2").state(folder) != "fetched":
        pytest.skip("needs the weights: qodebase models fetch smollm2")

    async def main() -> tuple[Answer | NoAnswer, Answer | NoAnswer, int]:
        context = ModelContext(environ={}, cache_folder=tmp_path, clock=SystemClock(), weights_folder=folder)
        model = create(parse_spec("local:smollm2", {}), context)
        try:
            answer = await model.answer(asked("Say what a queue is, in one sentence.", limit=100))
            too_long = await model.answer(asked("word " * 5000))
            assert model.pid is not None
            return answer, too_long, model.pid
        finally:
            await model.close()

    answer, too_long, pid = asyncio.run(main())
    assert gone(pid)
    assert isinstance(answer, Answer)
    assert answer.output_tokens > 3
    assert isinstance(too_long, NoAnswer)
    assert too_long.failure is Failure.TOO_LONG
