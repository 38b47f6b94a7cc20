"""Minutes, waits and runs of checks, from a journal."""

from __future__ import annotations

from dial_world import World

from qodebase import events
from results.scoring.timing import percentile

A = "shop/a.py"


def test_minutes_are_those_in_which_a_process_worked_on_the_run(world: World) -> None:
    world.clock.at += 90
    world.journal.write(events.RunStopped, why="interrupted", tip=world.tip)
    world.clock.at += 10_000
    world.journal.write(events.RunStarted, sitting=2, base=world.base, tip=world.tip, workers=1, real_pid=2)
    world.clock.at += 30
    world.answer("task", {A: "x = 1\n"})
    assert world.row()["minutes"] == 2.0


def test_a_wait_is_from_the_first_hand_in_of_the_attempt_to_its_landing(world: World) -> None:
    for number in range(4):
        name = f"task-{number}"
        world.answer(name, {f"shop/n{number}.py": f"N = {number}\n"})
        world.clock.at += 10 * (number + 1)
        world.journal.write(events.Queued, intent=name, attempt=1, lane="code", lanes=("code",))
        world.land(name)
    world.answer("never", {A: "x = 1\n"})
    world.clock.at += 1000
    row = world.row()
    assert (row["wait_p50_s"], row["wait_p99_s"]) == (20, 40)


def test_an_attempt_that_was_sent_back_is_not_part_of_the_wait_of_the_next(world: World) -> None:
    world.answer("task", {A: "x = 1\n"})
    world.clock.at += 500
    world.refuse("task")
    world.answer("task", {A: "x = 2\n"}, attempt=2)
    world.clock.at += 5
    world.land("task", attempt=2)
    assert world.row()["wait_p99_s"] == 5


def test_test_runs_are_the_runs_of_checks_and_not_the_verdicts(world: World) -> None:
    world.answer("task", {A: "x = 1\n"})
    world.refuse("task")
    world.judge(world.couple("task"), "green", runs=0)
    world.judge(world.couple("task"), "green", runs=1)
    world.journal.write(events.Judged, tree="", verdict="red", checks=1, runs=3, of="main")
    assert world.row()["test_runs"] == 6


def test_a_run_in_which_nothing_landed_has_no_wait(world: World) -> None:
    row = world.row()
    assert (row["wait_p50_s"], row["wait_p99_s"]) == (0, 0)


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([1, 2, 3, 4], 0.5) == 2
    assert percentile([1, 2, 3, 4], 0.99) == 4
    assert percentile([7], 0.5) == 7
