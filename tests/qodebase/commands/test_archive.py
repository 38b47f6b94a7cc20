"""A run in one file, and the same run again from its recorded answers."""

from __future__ import annotations

import io
import json
import re
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from qodebase.commands.support import archive_file
from qodebase.commands.support.archive_file import BadArchive, unpack
from qodebase.commands.support.archiving import archive_run
from qodebase.commands.support.rerunning import rerun as again
from qodebase.errors import QodebaseError
from qodebase.runs import RunFolder
from qodebase.segments import SegmentReader

JOB = Path(__file__).parents[2] / "support" / "edit_job.py"
Call = Callable[..., Result]


@pytest.fixture(scope="module")
def whole(home: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of an archive of the run, in which changes collided and one was redone by a model."""
    file = tmp_path_factory.mktemp("archives") / "one.tar.gz"
    archive_run(RunFolder(home / "runs/one"), file, prompts=True)
    assert file.stat().st_mode & 0o777 == 0o600
    return file.read_bytes()


@pytest.fixture
def archived(copy: RunFolder, whole: bytes) -> Path:
    """That archive as ``one.tar.gz`` in the current folder, beside the run in ``runs/one``."""
    file = Path("one.tar.gz")
    file.write_bytes(whole)
    return file


def rerun(call: Call, file: Path, *words: str, code: int = 0) -> dict[str, Any]:
    done = call("rerun", str(file), "--job", str(JOB), "--out", f"again-{file.name}", "--json", *words)
    assert done.exit_code == code, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def members(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]


def journal(folder: RunFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in folder.journal.read_bytes().splitlines()]


def packed(file: Path, *more: tuple[tarfile.TarInfo, bytes], contents: dict[str, bytes] | None = None) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        for name, content in (contents or {}).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info, content in more:
            archive.addfile(info, io.BytesIO(content))
    return file


def named(name: str, kind: bytes = tarfile.REGTYPE, *, content: bytes = b"x", to: str = "") -> tuple[Any, bytes]:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = to
    info.size = len(content) if kind == tarfile.REGTYPE else 0
    return info, content


def test_a_rerun_lands_the_same_tree_although_changes_collided_and_were_redone(archived: Path, call: Call) -> None:
    found = rerun(call, archived)
    assert found["equal"] is True
    assert found["tree"] == found["recorded_tree"]
    assert (found["paths"], found["endings"], found["asked_otherwise"], found["unanswered"]) == ([], [], [], [])
    assert found["in_order"] is True
    folder = RunFolder(Path("again-one.tar.gz"))
    assert (folder.settings().model, folder.settings().escalate_model) == ("recorded", "")
    assert json.loads(call("verify", str(folder.root), "--json").stdout)["ok"] is True
    assert found["landed"] == sum(event["kind"] == "landed" for event in journal(RunFolder(Path("runs/one")))) > 0


def test_the_same_run_makes_the_same_bytes_in_every_kind_of_file(archived: Path, call: Call) -> None:
    assert call("archive", "runs/one", "two.tgz").exit_code == 0
    assert Path("two.tgz").read_bytes() == archived.read_bytes()
    for name in ("one.tar", "one.tar.xz"):
        assert call("archive", "runs/one", name).exit_code == 0
        assert members(Path(name)) == members(archived)
    assert sorted(members(archived)) == [
        "archive.json",
        "repository.bundle",
        "run/attempts/000001.seg",
        "run/environment.json",
        "run/intents.jsonl",
        "run/journal.jsonl",
        "run/settings.json",
    ]


def test_without_prompts_their_texts_are_gone_and_the_run_is_repeated_all_the_same(
    archived: Path, call: Call, tmp_path: Path
) -> None:
    assert call("archive", "runs/one", "bare.tar.gz", "--no-prompts").exit_code == 0
    unpack(Path("bare.tar.gz"), tmp_path / "bare")
    unpack(archived, tmp_path / "whole")
    refs = [event["ref"] for event in journal(RunFolder(tmp_path / "bare/run")) if event["kind"] == "asked"]
    bare, whole = (SegmentReader(tmp_path / side / "run/attempts") for side in ("bare", "whole"))
    assert {bare.get(ref) for ref in refs} == {b"[]"}
    assert all(b'"text"' in whole.get(ref) for ref in refs)
    bare.close()
    whole.close()
    assert rerun(call, Path("bare.tar.gz"))["equal"] is True


def test_what_somebody_else_put_on_main_is_named_as_what_differs(copy: RunFolder, call: Call) -> None:
    git = ["git", "-C", str(copy.repository), "-c", "user.name=P", "-c", "user.email=p@p"]
    tree = subprocess.run([*git, "mktree"], input=b"", capture_output=True, check=True).stdout.decode().strip()
    made = subprocess.run([*git, "commit-tree", "-p", "main", "-m", "none", tree], capture_output=True, check=True)
    subprocess.run([*git, "update-ref", "refs/heads/main", made.stdout.decode().strip()], check=True)
    assert call("archive", "runs/one", "other.tar").exit_code == 0
    found = rerun(call, Path("other.tar"), code=1)
    assert found["equal"] is False
    assert {(one["how"], one["path"]) for one in found["paths"]} == {("A", "a.py"), ("A", "b.py"), ("A", "c.py")}
    shown = call("rerun", "other.tar", "--job", str(JOB), "--out", "shown")
    assert shown.exit_code == 1
    assert "THE TREES DIFFER" in shown.stdout


def test_no_code_is_taken_from_an_archive(archived: Path, call: Call) -> None:
    done = call("rerun", str(archived), "--out", "again")
    assert done.exit_code == 2
    assert "--job PATH (it was edit_job.py)" in done.stderr
    assert not Path("again").exists()


def test_a_folder_that_is_taken_a_live_run_and_a_name_of_no_kind_are_refused(
    archived: Path, copy: RunFolder, call: Call
) -> None:
    assert call("rerun", str(archived), "--job", str(JOB), "--out", "runs").exit_code == 2
    assert "tells no kind of archive" in call("archive", "runs/one", "one.zip").stderr
    with copy.locked():
        assert "is being worked on" in call("archive", "runs/one", "live.tar").stderr
    assert not Path("live.tar").exists()


def test_a_key_of_the_environment_goes_into_no_archive(
    copy: RunFolder, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "k-0123456789abcdefghij")
    environment = copy.root / "environment.json"
    environment.write_text(environment.read_text().replace('"product"', '"k": "k-0123456789abcdefghij", "product"'))
    done = call("archive", "runs/one", "key.tar")
    assert done.exit_code == 1
    assert "environment.json line" in done.stderr
    assert "k-0123456789" not in done.stderr
    assert not list(Path.cwd().glob("key.tar*"))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_torn_archive_is_said_to_be_torn(whole: bytes, tmp_path: Path, share: float) -> None:
    torn = tmp_path / "torn.tar.gz"
    torn.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(BadArchive, match="is torn, or no archive") as told:
        again(torn, tmp_path / "again", job_file=str(JOB))
    assert told.value.exit_code == 2
    assert list(tmp_path.iterdir()) == [torn]


HOSTILE = {
    "above": named("../out", content=b"x"),
    "deep above": named("run/../../out"),
    "absolute": named("/tmp/out"),
    "hidden": named("run/.git"),
    "symbolic link": named("run/journal.jsonl.link", tarfile.SYMTYPE, to="/etc/passwd"),
    "hard link": named("run/hard", tarfile.LNKTYPE, to="archive.json"),
    "device": named("run/null", tarfile.CHRTYPE),
    "folder": named("run", tarfile.DIRTYPE),
    "twice": named("archive.json"),
    "unlisted": named("run/more.json"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_an_archive_with_anything_but_the_files_of_a_run_is_refused(archived: Path, kind: str) -> None:
    packed(Path("odd.tar.gz"), HOSTILE[kind], contents=members(archived))
    before = set(Path.cwd().rglob("*"))
    with pytest.raises(BadArchive, match=r"the archive holds|is not listed"):
        again(Path("odd.tar.gz"), Path("again"), job_file=str(JOB))
    assert set(Path.cwd().rglob("*")) == before


def test_an_archive_that_unpacks_to_far_more_than_it_is_is_refused(
    archived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_file, "_ROOM", 1 << 20)
    bomb = packed(tmp_path / "bomb.tar.gz", named("run/zeros", content=bytes(8 << 20)))
    with pytest.raises(BadArchive, match="unpacks to more than"):
        unpack(bomb, tmp_path / "space")
    assert not (tmp_path / "space/run/zeros").exists()


def doctored(file: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    contents = members(file)
    contents[name] = change(contents[name])
    return packed(Path("doctored.tar.gz"), contents=contents)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("run/journal.jsonl", lambda content: content + b" ", "run/journal.jsonl is not what was written"),
        ("archive.json", lambda content: b"{}", "archive.json"),
        ("archive.json", lambda content: b"[", "holds no archive.json"),
        ("archive.json", lambda content: content.replace(b'"v": 1', b'"v": 2'), "another qodebase"),
        ("archive.json", lambda content: content.replace(b'"base": "', b'"base": "-'), "not those of the run"),
        ("archive.json", lambda content: content.replace(b'"tree": "', b'"tree": "-'), "no object's name"),
        (
            "archive.json",
            lambda content: re.sub(rb'("tree": ")\w{8}', rb"\g<1>00000000", content),
            "holds another tree",
        ),
    ],
)
def test_a_doctored_archive_is_refused_by_what_was_doctored(
    archived: Path, name: str, change: Callable[[bytes], bytes], said: str
) -> None:
    with pytest.raises(QodebaseError, match=said):
        again(doctored(archived, name, change), Path("again"), job_file=str(JOB))
    assert not Path("again").exists()


def test_a_run_without_kept_answers_cannot_be_repeated(copy: RunFolder, call: Call) -> None:
    kept = [{**event, "ref": ""} if event["kind"] == "answered" else event for event in journal(copy)]
    copy.journal.write_text("".join(json.dumps(event) + "\n" for event in kept))
    assert call("archive", "runs/one", "bare.tar").exit_code == 0
    done = call("rerun", "bare.tar", "--job", str(JOB), "--out", "again")
    assert done.exit_code == 2
    assert "kept no answers" in done.stderr


@pytest.mark.full
def test_a_run_with_checks_trains_and_models_that_redo_is_repeated_to_the_same_tree(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = call("reproduce", "counters", "--scale", "0.2", "--keep", "--out", "kept")
    assert made.exit_code == 0
    assert call("archive", "kept/1/run", "counters.tar.gz").exit_code == 0
    done = call("rerun", "counters.tar.gz", "--out", "again", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["equal"], found["endings"], found["landed"]) == (0, True, [], 60)
