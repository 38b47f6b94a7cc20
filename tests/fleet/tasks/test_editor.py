"""The editor: right answers, wrong ones of stated kinds at stated rates, and latencies of their own."""

from __future__ import annotations

import asyncio
from collections import Counter
from statistics import median

import pytest
from tasks_world import Applier, MemoryTree, failures, job_of, neighbour_failures

from fleet.jobs.tasks.task import Task, Wrong
from fleet.jobs.tasks.world import World, generate
from fleet.models.editor import Editing, Editor, NoRecipe, written
from fleet.models.registry import BadModel, ModelContext, create_model, parse_spec
from fleet.sent_back_text import with_sent_back
from qodebase import events
from qodebase.change import Change
from qodebase.clock import SystemClock, VirtualClock
from qodebase.ports import Answer, Message, Prompt, ReplayRequest

IDS = [f"task-{number:04}" for number in range(4000)]


def one_of_each_kind(world: World) -> list[Task]:
    return list({task.kind: task for task in world.tasks}.values())


@pytest.mark.parametrize("wrong", list(Wrong))
def test_wrong_answers_of_each_kind_do_what_they_say_for_every_kind_of_task(wrong: Wrong) -> None:
    world = generate(tasks=60, share=0.6)
    applier, base = Applier(world), MemoryTree(world.files)
    tasks = one_of_each_kind(world)
    assert len(tasks) == 11
    for task in tasks:
        done = base.with_change(applier.change(task, base, wrong))
        broken = set(neighbour_failures(world, done, task.retires, task.paths))
        assert bool(failures(done, task.checks)) == (wrong is Wrong.FAILS), (task.kind, wrong)
        if wrong is not Wrong.FAILS:
            assert bool(failures(done, task.hidden)) == (wrong is Wrong.MISSES), (task.kind, wrong)
            assert bool(broken) == (wrong is Wrong.BREAKS), (task.kind, wrong, broken)


@pytest.mark.full
@pytest.mark.parametrize("wrong", list(Wrong))
def test_wrong_answers_to_all_1385_tasks_do_what_they_say(wrong: Wrong) -> None:
    world = generate(share=0.6)
    applier, base = Applier(world), MemoryTree(world.files)
    for task in world.tasks:
        done = base.with_change(applier.change(task, base, wrong))
        assert bool(failures(done, task.checks)) == (wrong is Wrong.FAILS), task.id
        if wrong is not Wrong.FAILS:
            assert bool(failures(done, task.hidden)) == (wrong is Wrong.MISSES), task.id


def test_an_answer_to_newer_code_keeps_what_landed_in_between() -> None:
    world = generate(tasks=60, share=1.0, hot_modules=4, hot_functions=4)
    applier, base = Applier(world), MemoryTree(world.files)
    target = Counter(task.targets[0] for task in world.tasks).most_common(1)[0][0]
    tasks = [task for task in world.tasks if task.targets[0] == target]
    assert len(tasks) > 8
    end = applier.after(tasks, base)
    for task in tasks:
        assert failures(end, {**task.checks, **task.hidden}) == {}


def test_an_answer_says_so_where_its_target_is_gone() -> None:
    world = generate(tasks=60, share=0.6)
    for task in one_of_each_kind(world):
        said = written(task, dict.fromkeys(task.paths, "VALUE = 1\n"))
        assert said.startswith("GONE ")
        assert task.recipe is not None
        assert task.recipe.names[0] in said


def test_wrong_answers_come_at_the_stated_rates_drawn_apart_for_fresh_and_redone() -> None:
    editor = Editor("e", Editing.parse("seed=5,wrong=0.06,wrong_redone=0.3"), SystemClock())
    fresh = Counter(editor.draw(name).wrong for name in IDS)
    redone = Counter(editor.draw(name, 1, 1).wrong for name in IDS)
    for kind in Wrong:
        assert abs(fresh[kind] - 80) < 45
        assert abs(redone[kind] - 400) < 100
    both = sum(bool(editor.draw(name).wrong) and bool(editor.draw(name, 1, 1).wrong) for name in IDS)
    assert abs(both - 0.06 * 0.3 * len(IDS)) < 40


def test_the_kinds_of_wrong_answers_can_be_weighted() -> None:
    editor = Editor("e", Editing.parse("wrong=0.5,fails=0,misses=1,breaks=3"), SystemClock())
    counts = Counter(editor.draw(name).wrong for name in IDS)
    assert counts[Wrong.FAILS] == 0
    assert abs(counts[Wrong.BREAKS] / counts[Wrong.MISSES] - 3) < 0.6


def test_a_draw_depends_on_seed_intent_attempt_and_replay_alone() -> None:
    one, other = (
        Editor("e", Editing.parse(f"seed={seed},wrong=0.5,fresh=20,redone=5"), SystemClock()) for seed in (1, 2)
    )
    again = Editor("e", Editing.parse("seed=1,wrong=0.5,fresh=20,redone=5"), SystemClock())
    assert [one.draw(name) for name in reversed(IDS)] == [again.draw(name) for name in reversed(IDS)]
    asked = [(name, attempt, replay) for name in IDS[:200] for attempt in (1, 2) for replay in (0, 1, 2)]
    assert len({one.draw(*question) for question in asked}) > 1000
    assert [one.draw(*question) for question in asked] != [other.draw(*question) for question in asked]


def test_latencies_of_fresh_and_redone_answers_have_medians_and_spreads_of_their_own() -> None:
    editor = Editor("e", Editing.parse("fresh=20,redone=5,fresh_spread=0.5,redone_spread=0"), SystemClock())
    fresh = sorted(editor.draw(name).latency_s for name in IDS)
    assert abs(median(fresh) - 20) < 1
    assert 1.2 < fresh[len(fresh) * 84 // 100] / median(fresh) < 2.1
    assert {editor.draw(name, 1, 2).latency_s for name in IDS[:50]} == {5.0}


def test_answers_take_virtual_time() -> None:
    world = generate(tasks=60, share=0.6)
    clock = VirtualClock()
    editor = Editor("e", Editing.parse("fresh=20,redone=5"), clock)
    intent = next(iter(job_of(world).intents()))
    prompt = job_of(world).prompt(intent, MemoryTree(world.files))
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        answer = runner.run(editor.answer(prompt))
    assert isinstance(answer, Answer)
    assert clock.now() == editor.draw(intent.id).latency_s
    assert answer.text == written(world.tasks[0], prompt.facts["sources"], editor.draw(intent.id).wrong)


def test_an_attempt_after_one_that_was_sent_back_and_a_replay_are_drawn_anew() -> None:
    world = generate(tasks=60, share=0.6)
    job, tree = job_of(world), MemoryTree(world.files)
    editor = Editor("e", Editing.parse("wrong=0.5"), SystemClock())
    for intent in job.intents():
        fresh = job.prompt(intent, tree)
        request = ReplayRequest(
            intent=intent, attempt=2, change=Change(base=tree.commit, operations=()), collided=(), replay=3
        )
        back = events.SentBack(v=1, seq=1, at=0.0, run="r", actor="a", intent=intent.id, attempt=1, reason="red")
        questions = {
            (1, 0): fresh,
            (2, 0): with_sent_back(fresh, back),
            (2, 3): job.prompt(intent, tree, request),
        }
        for (attempt, replay), prompt in questions.items():
            answer = asyncio.run(editor.answer(prompt))
            assert isinstance(answer, Answer)
            drawn = editor.draw(intent.id, attempt, replay)
            assert answer.text == written(prompt.facts["task"], prompt.facts["sources"], drawn.wrong)


def test_a_job_without_recipes_is_told_so() -> None:
    prompt = Prompt(messages=(Message(role="user", text="?"),), max_output_tokens=1)
    with pytest.raises(NoRecipe, match="generated tasks only"):
        asyncio.run(Editor("e", Editing(), SystemClock()).answer(prompt))


@pytest.mark.parametrize(
    "text", ["wrong=2", "wrong_redone=-0.5", "fresh=-1", "fails=0,misses=0,breaks=0", "speed=1", "wrong=often"]
)
def test_settings_that_no_editor_has_are_refused(text: str) -> None:
    with pytest.raises(BadModel):
        Editing.parse(text)


def test_the_registry_makes_an_editor(tmp_path) -> None:  # type: ignore[no-untyped-def]
    context = ModelContext(environ={}, cache_folder=tmp_path, clock=SystemClock())
    editor = create_model(parse_spec("editor:seed=3,wrong=0.05", {}), context)
    assert isinstance(editor, Editor)
    assert (editor.editing, editor.simulated, editor.local) == (Editing(seed=3, wrong=0.05), True, True)
