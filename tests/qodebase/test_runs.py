from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from qodebase.codec import BadData
from qodebase.intent import BadIntents, Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.runs import NoPlace, NoRun, NotText, RunExists, RunFolder, RunHeld, Settings, digest_of, plain_name

SETTINGS = Settings(
    run="run-1",
    job="edit",
    job_digest="d",
    job_settings={"edits": ["a=b"]},
    repository="/r",
    branch="main",
    base=CommitId("0" * 40),
    model="scripted",
    workers=3,
    lanes={"a": ("/a/**",)},
    created=5.0,
    product="0.1.0",
)
INTENTS = [
    Intent(id="a", asked="Do a.", scope=(RepoPath(b"\xff"), RepoPath(b"b c")), after=("b",)),
    Intent(id="b", asked="Do b.", scope=(), ending=Ending.SKIPPED, reason="done already"),
]


def frozen(root: Path, *, created: float = 5.0) -> RunFolder:
    folder = RunFolder.create(root)
    folder.freeze(msgspec.structs.replace(SETTINGS, created=created), INTENTS)
    return folder


def test_settings_and_intents_come_back_as_they_were_frozen(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "runs" / "one")
    assert folder.freeze(SETTINGS, iter(INTENTS)) == 2
    kept = folder.settings()
    assert kept == msgspec.structs.replace(SETTINGS, intents=2, intents_digest=kept.intents_digest)
    assert folder.intents_as_frozen()
    assert list(folder.intents()) == INTENTS
    assert folder.name == "one"
    assert folder.root.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in folder.root.iterdir()) == ["intents.jsonl", "settings.json"]


def test_a_freeze_that_is_cut_off_leaves_no_run(tmp_path: Path) -> None:
    def cut_off() -> Iterator[Intent]:
        yield INTENTS[1]
        raise KeyboardInterrupt

    folder = RunFolder.create(tmp_path / "one")
    with pytest.raises(KeyboardInterrupt):
        folder.freeze(SETTINGS, cut_off())
    with pytest.raises(NoRun):
        RunFolder.find("one", home=tmp_path)


def test_a_freeze_killed_before_its_last_step_leaves_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    folder = RunFolder.create(tmp_path / "one")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            folder.freeze(SETTINGS, INTENTS)
    assert not (folder.root / "settings.json").exists()
    with pytest.raises(NoRun):
        RunFolder.find("one", home=tmp_path)


def test_intents_that_wait_for_each_other_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "one")
    with pytest.raises(BadIntents, match="a after a"):
        folder.freeze(SETTINGS, [Intent(id="a", asked="", scope=(), after=("a",))])
    assert list(folder.root.iterdir()) == []


def test_a_folder_that_holds_something_is_not_made_a_run(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    RunFolder.create(tmp_path / "empty")
    folder = frozen(tmp_path / "taken")
    with pytest.raises(RunExists, match="exists already") as caught:
        RunFolder.create(folder.root)
    assert "qodebase resume" in caught.value.hint
    (tmp_path / "file").write_text("")
    with pytest.raises(RunExists):
        RunFolder.create(tmp_path / "file")


@pytest.mark.parametrize("place", ["file/run", "loop/run"])
def test_a_folder_that_cannot_be_made_is_an_error_with_a_hint(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(NoPlace, match="cannot be made") as caught:
        RunFolder.create(tmp_path / place)
    assert "--out" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_run_is_found_by_path_by_name_and_as_the_last(tmp_path: Path) -> None:
    home = tmp_path / "runs"
    old, new = frozen(home / "z-old", created=1.0), frozen(home / "a-new", created=2.0)
    elsewhere = frozen(tmp_path / "elsewhere")
    (home / "no-run").mkdir()
    assert RunFolder.find("z-old", home=home).root == old.root
    assert RunFolder.find("last", home=home).root == new.root
    assert RunFolder.find(str(elsewhere.root), home=home).root == elsewhere.root


def test_a_run_that_is_not_there_is_an_error_that_lists_those_that_are(tmp_path: Path) -> None:
    frozen(tmp_path / "one")
    with pytest.raises(NoRun, match="no run 'two'") as caught:
        RunFolder.find("two", home=tmp_path)
    assert "one" in caught.value.hint
    with pytest.raises(NoRun, match="no run in") as caught:
        RunFolder.find("last", home=tmp_path / "nowhere")
    assert "qodebase run" in caught.value.hint


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"workers": "many"}, r"\$\.workers"),
        ({"lanes": {"a": "b"}}, r"\$\.lanes"),
        ({"base": None}, r"\$\.base"),
    ],
)
def test_a_bad_settings_file_names_itself_and_the_field(tmp_path: Path, change: dict[str, object], said: str) -> None:
    folder = frozen(tmp_path / "one")
    path = folder.root / "settings.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BadData, match=r"one/settings\.json: .*" + said):
        folder.settings()
    path.write_text("{")
    with pytest.raises(BadData, match=r"one/settings\.json"):
        folder.settings()


def test_a_bad_intent_names_file_line_and_field(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "one")
    path = folder.root / "intents.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id":"c","asked":"","scope":[3]}\n')
    with pytest.raises(BadData, match=r"intents\.jsonl line 3: .*\$\.scope\[0\]"):
        list(folder.intents())


def test_a_second_holder_is_refused_and_told_who_has_the_run(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "one")
    assert folder.holder() == ""
    with folder.locked():
        assert folder.holder().startswith(f"process {os.getpid()} on ")
        with pytest.raises(RunHeld, match=f"worked on by process {os.getpid()}"), folder.locked():
            pass
    assert folder.holder() == ""
    with folder.locked():
        pass


def test_a_run_is_free_when_its_holder_is_killed(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "one")
    script = (
        "import sys; from pathlib import Path; from qodebase.runs import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).locked():\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, folder.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(RunHeld, match=f"process {other.pid} on "), folder.locked():
            pass
        other.kill()
        other.wait()
        with folder.locked():
            assert folder.holder().startswith(f"process {os.getpid()} ")


def test_whoever_only_asks_for_the_holder_keeps_nobody_from_the_run(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "one")
    with folder.locked():
        pass
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            folder.holder()

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for thread in asking:
        thread.start()
    try:
        for _ in range(300):
            with folder.locked():
                pass
    finally:
        done.set()
        for thread in asking:
            thread.join()


def test_a_digest_depends_on_the_values_and_not_on_their_order() -> None:
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 2})
    assert len(digest_of({})) == 64


def test_a_run_without_its_frozen_intents_says_so(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "one")
    folder.frozen.unlink()
    with pytest.raises(BadData, match=r"intents\.jsonl is missing"):
        list(folder.intents())


def test_settings_of_another_version_are_not_read_as_if_they_were_ours(tmp_path: Path) -> None:
    folder = frozen(tmp_path / "one")
    path = folder.root / "settings.json"
    path.write_text(path.read_text().replace('"v": 1,', '"v": 2,'))
    with pytest.raises(BadData, match="has version 2, and this qodebase reads 1"):
        folder.settings()


def test_bytes_that_are_no_text_are_refused_by_their_name_and_nothing_is_written(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "one")
    with pytest.raises(NotText, match="udcff"):
        folder.freeze(msgspec.structs.replace(SETTINGS, repository="/r\udcff"), INTENTS)
    assert list(folder.root.iterdir()) == []


@pytest.mark.parametrize("name", ["a b", "a\nb", "a..b", "-a", ".a", "a~^:?*[", "\udcff", "ü", "a" * 255, "..."])
def test_a_plain_name_can_be_a_part_of_a_branch(name: str) -> None:
    ref = f"refs/heads/qodebase/{plain_name(name)}-12/main"
    subprocess.run(["git", "check-ref-format", ref], check=True)
