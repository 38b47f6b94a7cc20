from __future__ import annotations

from pathlib import Path

import pytest

from qodebase.codec import BadData
from qodebase.commands.bench.support.dial_policy import BUILT_IN, UnknownQueue, policy_of
from qodebase.commands.bench.support.dial_setting import BadDial, Plain, grid_of


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def test_the_built_in_queues_differ_in_nothing_but_how_they_land() -> None:
    assert list(BUILT_IN) == ["classic", "single", "lanes", "prefetch", "claims"]
    classic = BUILT_IN["classic"]
    assert (classic.train_max, classic.prefetch, classic.rules, classic.replays) == (1, False, "off", "inside")
    assert classic.patterns == {"main": ("/**",)}
    assert BUILT_IN["lanes"].patterns == {}
    assert [BUILT_IN[name].prefetch for name in ("single", "lanes", "prefetch")] == [False, False, True]
    assert [name for name, policy in BUILT_IN.items() if policy.claims] == ["claims"]


def test_rules_can_be_switched_for_every_queue_but_the_one_that_has_none() -> None:
    assert policy_of("classic").with_rules("on").rules == "off"
    assert policy_of("lanes").with_rules("off").rules == "off"


def test_a_queue_of_ones_own_is_a_file(tmp_path: Path) -> None:
    text = 'train_max = 8\nrules = false\nreplays = "inside"\n[lanes]\nback = ["/back/**"]\n'
    policy = policy_of(written(tmp_path, text))
    assert (policy.name, policy.train_max, policy.rules, policy.replays) == ("mine", 8, "off", "inside")
    assert policy.patterns == {"back": ("/back/**",)}
    assert policy.with_rules("on").rules == "off"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("train_max = 0", "train_max"),
        ("size = 3", "size"),
        ('replays = "later"', "replays"),
        ('rules = "some"', "rules"),
        ('lanes = "many"', "lanes"),
        ("train_max = 'x'", "train_max"),
        ("=", "no TOML"),
    ],
)
def test_a_wrong_file_names_the_field(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadData, match=said):
        policy_of(written(tmp_path, text))


def test_a_queue_that_is_nowhere_says_which_there_are() -> None:
    with pytest.raises(UnknownQueue, match="'nothing'") as caught:
        policy_of("nothing")
    assert "classic" in str(caught.value.hint)
    with pytest.raises(BadData, match=r"there\.toml"):
        policy_of("not/there.toml")


def test_a_grid_pairs_the_queues_of_a_share_and_a_seed() -> None:
    settings = grid_of(Plain(), shares=[0.0, 0.6], queues=["single", "lanes"], rules="off", contract=False, seeds=2)
    assert [(one.share, one.seed, one.queue.name) for one in settings[:3]] == [
        (0.0, 1, "single"),
        (0.0, 1, "lanes"),
        (0.0, 2, "single"),
    ]
    assert len({one.key for one in settings}) == len(settings) == 8
    assert not any(one.queue.contract for one in settings)


@pytest.mark.parametrize(
    "wrong", [{"shares": []}, {"shares": [1.5]}, {"rules": "maybe"}, {"queues": ["none"]}, {"plain": Plain(folder="x")}]
)
def test_a_grid_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    good: dict[str, object] = {
        "shares": [0.5],
        "queues": ["single"],
        "rules": "on",
        "contract": True,
        "seeds": 1,
        "plain": Plain(),
    }
    whole = good | wrong
    with pytest.raises((BadDial, UnknownQueue)):
        grid_of(whole.pop("plain"), **whole)  # type: ignore[arg-type]
