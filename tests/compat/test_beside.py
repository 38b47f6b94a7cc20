"""The process beside a trunk: what it packs is what the trunk would pack itself, and losing it loses nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from qodebase.change import Hunk
from qodebase.collision import Declined
from qodebase.paths import RepoPath
from qodebase.trunk import beside as beside_module
from qodebase.trunk import packing
from qodebase.trunk.batch import Landed, Landing, Moved, SharedEdit
from qodebase.trunk.beside import Beside, Elsewhere, Gone
from qodebase.trunk.files import Files
from qodebase.trunk.gathering import Gathered
from qodebase.trunk.landing import Trunk
from qodebase.trunk.objects import BLOB, TREE, hash_object
from qodebase.trunk.pack import PackWriter
from qodebase.trunk.packer import BEGIN, FINISH, REMEMBER, Call, Packer
from qodebase.trunk.packing import Packing
from qodebase.trunk.placing import let_go
from qodebase.trunk.tips import Tips
from qodebase.trunk.wholes import Wholes

INDEX = b"docs/index.md"
LONG = b"".join(b"- a line of a long index, number %06d\n" % number for number in range(3000))


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every batch be gathered beside the trunk."""
    monkeypatch.setattr(packing, "_MANY", 1)
    monkeypatch.setattr(packing, "processors", lambda: 2)


def process_of(trunk: Trunk) -> subprocess.Popen[bytes]:
    there = trunk._packing._beside
    assert there is not None
    return there._process


def insert_line(shared: SharedEdit, content: bytes | None) -> bytes | Declined:
    assert isinstance(shared.change, tuple)
    return shared.change[0].text + (content or b"")


def files_of(seed: int) -> dict[bytes, bytes]:
    chance = random.Random(seed)
    files = {b"f%02d/g%d/n%03d.py" % (n % 7, n % 3, n): chance.randbytes(60).hex().encode() * 20 for n in range(80)}
    return {**files, INDEX: LONG, b"one": b"1"}


def batches_of(files: Mapping[bytes, bytes], landing: Callable[..., Landing], trunk: Trunk) -> list[list[Landing]]:
    """Return batches in which paths change again and again, come and go, and one long file gets a line each time."""
    chance = random.Random(11)
    paths = [path for path in files if path not in (INDEX, b"one")]
    batches = []
    number = 0
    for batch in range(4):
        landings = []
        for path in chance.sample(paths, 20):
            number += 1
            edits: dict[bytes, bytes | None] = {path: b"# header %d\n" % number + files[path]}
            if number % 5 == 0:
                edits[b"new/n%d/%d.txt" % (number % 2, number)] = b"new %d\n" % number
                edits[b"new/n%d/%d.more" % (number % 2, number)] = chance.randbytes(70_000)
            expects = {RepoPath(path): trunk.entry(path)}
            change = SharedEdit(path=RepoPath(INDEX), base=None, change=(Hunk(offset=0, text=b"- %d\n" % number),))
            more = {"shared": (change,), "expects": expects | {RepoPath(name): None for name in edits if name != path}}
            landings.append(landing(trunk, edits, intent=f"i{number}", **more))
            paths.remove(path)
        if batch == 2:
            landings.append(landing(trunk, {b"one": None}, intent="gone"))
        batches.append(landings)
    return batches


def landed_with(path: Path, files: Mapping[bytes, bytes], landing: Callable[..., Landing]) -> set[str]:
    """Land the batches and return the names of the new packs, which are checksums of what is in them."""
    before = {pack.name for pack in path.rglob("*.pack")}
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        for batch in batches_of(files, landing, trunk):
            results = trunk.land(batch, insert_line)
            assert all(isinstance(result, Landed) for result in results), results
    return {pack.name for pack in path.rglob("*.pack")} - before


def test_packs_are_the_same_wherever_they_are_gathered(
    repository: Callable[..., Path],
    landing: Callable[..., Landing],
    sound: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = files_of(1)
    here = landed_with(repository(files, "here.git"), files, landing)
    monkeypatch.setattr(packing, "_MANY", 1)
    monkeypatch.setattr(packing, "processors", lambda: 2)
    started: list[Beside] = []
    begin = Beside.begin

    def begun(beside: Beside) -> Elsewhere:
        started.append(beside)
        return begin(beside)

    monkeypatch.setattr(Beside, "begin", begun)
    elsewhere = landed_with(repository(files, "elsewhere.git"), files, landing)
    assert len(started) == 4
    assert len(set(started)) == 1
    assert here == elsewhere
    assert len(here) == 4
    for name in ("here.git", "elsewhere.git"):
        sound(tmp_path / name)


def test_files_of_one_content_are_packed_alike_wherever_they_are_gathered(
    repository: Callable[..., Path],
    landing: Callable[..., Landing],
    git: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first becomes a delta on a copy of what both were; the second one on the same copy, read lately or not."""
    text = random.Random(1).randbytes(3000).hex().encode()
    packs = []
    for number, many in enumerate((1000, 1)):
        monkeypatch.setattr(packing, "_MANY", many)
        monkeypatch.setattr(packing, "processors", lambda: 2)
        path = repository({b"a": text, b"b": text, b"c": text}, f"{number}.git")
        git(path, "repack", "-adq")
        with Trunk.open(path, branch="main", run="run-1") as trunk:
            trunk._recent.put(hash_object(BLOB, text), text)
            landings = [landing(trunk, {name: name + text}, intent=name.decode()) for name in (b"a", b"b", b"c")]
            trunk.land(landings, insert_line)
        packs.append({pack.name: pack.stat().st_size for pack in path.rglob("*.pack")})
    assert packs[0] == packs[1]


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("moment", ["between", "amid", "after"])
def test_a_process_that_is_killed_costs_no_landing_and_none_is_started_again(
    moment: str,
    repository: Callable[..., Path],
    landing: Callable[..., Landing],
    sound: Callable[[Path], None],
    git: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = repository({b"a": b"1", b"b": b"1"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        trunk.land([landing(trunk, {b"a": b"2"})], insert_line)
        process = process_of(trunk)

        def kill() -> None:
            process.kill()
            process.wait()

        def killing(landed: Landed) -> bytes:
            kill()
            return f"note of {landed.commit}\n".encode()

        def move(tips: Tips, *words: Any) -> None:
            moved(tips, *words)
            kill()

        more: dict[str, Any] = {"note": killing} if moment == "amid" else {}
        moved = Tips.move
        if moment == "after":
            monkeypatch.setattr(Tips, "move", move)
        if moment == "between":
            kill()
        again: list[int] = []
        results = trunk.land([landing(trunk, {b"b": b"2"}, **more)], insert_line, lambda: again.append(1))
        assert [type(result) for result in results] == [Landed]
        assert again == ([] if moment == "after" else [1])
        monkeypatch.undo()
        trunk.land([landing(trunk, {b"a": b"3"})], insert_line)
        assert git(path, "rev-list", "--count", "main") == b"4\n"
        assert trunk._packing._beside is None
        assert trunk.blob(trunk.entry(b"b").id) == b"2"  # type: ignore[union-attr]
    sound(path)


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_a_process_that_stands_still_costs_no_landing(
    size: int,
    repository: Callable[..., Path],
    landing: Callable[..., Landing],
    git: Callable[..., bytes],
    sound: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may stand still while it is told what fills the pipe, and while it is asked for what it gathered."""
    path = repository({b"a": b"1"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        trunk.land([landing(trunk, {b"a": b"2"})], insert_line)
        process = process_of(trunk)
        monkeypatch.setattr(beside_module, "_STILL_S", 0.1)
        process.send_signal(signal.SIGSTOP)
        watch = threading.Timer(5, process.kill)
        watch.start()
        results = trunk.land([landing(trunk, {b"a": bytes(size)})], insert_line)
        assert process.returncode == -signal.SIGKILL
        assert watch.is_alive()
        watch.cancel()
        assert [type(result) for result in results] == [Landed]
        assert git(path, "rev-list", "--count", "main") == b"3\n"
    sound(path)


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize(
    "said",
    [
        b"a module that greets whoever imports it\n",
        bytes([0, 0, 0, 0, 0, 0, 0, 12]) + b"PACK\0\0\0\2\0\0\0\0" + bytes(16),
        bytes([0, 0, 0, 0, 0, 0, 0, 12]) + b"PACK\0\0\0\2\0\0\1\0" + bytes([0, 0, 0, 0, 0, 0, 0, 1, 120] + [0] * 8),
    ],
)
def test_nonsense_that_a_process_answers_costs_no_landing(
    said: bytes,
    repository: Callable[..., Path],
    landing: Callable[..., Landing],
    sound: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = f"import os, sys; os.write(1, {said!r}); sys.stdin.buffer.read()"
    monkeypatch.setattr(beside_module, "command", lambda module: (sys.executable, "-S", "-c", program))
    path = repository({b"a": b"1"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        results = trunk.land([landing(trunk, {b"a": b"2"})], insert_line)
        assert [type(result) for result in results] == [Landed]
    sound(path)


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("moment", [1, 5])
def test_a_step_that_was_interrupted_while_it_heard_is_taken_again(
    moment: int,
    repository: Callable[..., Path],
    landing: Callable[..., Landing],
    git: Callable[..., bytes],
    sound: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pack, checksum and index come as a length and the bytes each."""
    path = repository({b"a": b"1"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        trunk.land([landing(trunk, {b"a": b"2"})], insert_line)
        read, moments = Beside._read, iter(range(6))

        def reading(beside: Beside, size: int) -> bytearray:
            if next(moments) == moment:
                read(beside, size // 2)
                raise KeyboardInterrupt
            return read(beside, size)

        monkeypatch.setattr(Beside, "_read", reading)
        change = landing(trunk, {b"a": b"3"})
        with pytest.raises(KeyboardInterrupt):
            trunk.land([change], insert_line)
        monkeypatch.setattr(Beside, "_read", read)
        results = trunk.land([change], insert_line)
        assert [type(result) for result in results] == [Landed]
        assert git(path, "rev-list", "--count", "main") == b"3\n"
    sound(path)


@pytest.mark.usefixtures("beside")
def test_a_batch_of_which_nothing_lands_leaves_nothing_behind_for_the_next(
    repository: Callable[..., Path], landing: Callable[..., Landing], sound: Callable[[Path], None]
) -> None:
    path = repository({b"a": b"1", b"b": b"1"})
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        late = landing(trunk, {b"a": b"other"})
        trunk.land([landing(trunk, {b"a": b"2"})], insert_line)
        (moved,) = trunk.land([late], insert_line)
        assert isinstance(moved, Moved)
        (landed,) = trunk.land([landing(trunk, {b"b": b"2"})], insert_line)
        assert isinstance(landed, Landed)
        process = process_of(trunk)
    assert process.returncode is not None
    sound(path)


def test_one_processor_is_not_shared_with_a_process_beside(
    repository: Callable[..., Path], landing: Callable[..., Landing], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_MANY", 1)
    monkeypatch.setattr(packing, "processors", lambda: 1)
    with Trunk.open(repository({b"a": b"1"}), branch="main", run="run-1") as trunk:
        trunk.land([landing(trunk, {b"a": b"2"})], insert_line)
        assert trunk._packing._beside is None


def test_a_lone_landing_starts_no_process(repository: Callable[..., Path], landing: Callable[..., Landing]) -> None:
    with Trunk.open(repository({b"a": b"1"}), branch="main", run="run-1") as trunk:
        trunk.land([landing(trunk, {b"a": b"2"})], insert_line)
        assert trunk._packing._beside is None


def test_where_no_process_can_be_started_objects_are_gathered_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: object, **more: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(packing, "processors", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    here = Packing(tmp_path, Wholes(tmp_path), level=-1)
    assert isinstance(here.begin(1000), Gathered)
    here.close()


@pytest.mark.usefixtures("beside")
def test_where_no_thread_can_be_started_the_pack_is_written_all_the_same(
    repository: Callable[..., Path],
    land: Callable[..., Landed],
    sound: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    path = repository({b"a": b"1"})
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Trunk.open(path, branch="main", run="run-1") as trunk:
        land(trunk, {b"a": b"2"})
    sound(path)


def test_a_pack_that_is_there_already_does_not_confuse_the_next_answer(tmp_path: Path) -> None:
    beside = Beside(tmp_path, level=-1)
    try:
        names = []
        for content in (b"one", b"one", b"two"):
            gathering = beside.begin()
            gathering.add(BLOB, hash_object(BLOB, content), content)
            pack = gathering.write(Files(durable=False), tmp_path)
            gathering.remember()
            let_go(Files(durable=False), pack)
            names.append(pack)
        assert names[0] == names[1] != names[2]
        for pack in set(names):
            subprocess.run(["git", "verify-pack", str(pack.with_suffix(".idx"))], check=True)
    finally:
        beside.close()


def test_a_tree_that_grows_by_single_entries_and_by_several_is_packed_to_the_end_of_its_chain(tmp_path: Path) -> None:
    """Chains end after 24 steps on each of 25 knots; who sends must know when the whole tree is needed again."""
    entries = [b"100644 name-%03d\0" % number + bytes(20) for number in range(60)]
    packs = []
    beside = Beside(tmp_path, level=-1)
    here = Packing(tmp_path, Wholes(tmp_path), level=-1)
    try:
        for gathering, folder in ((here.begin(1), tmp_path / "here"), (beside.begin(), tmp_path / "there")):
            folder.mkdir()
            raw = b"".join(entries)
            id = hash_object(TREE, raw)
            gathering.add(TREE, id, raw)
            chance = random.Random(3)
            for step in range(1500):
                place = chance.randrange(60) * len(entries[0]) + len(entries[0]) - 20
                patch = chance.randbytes(20)
                new = raw[:place] + patch + raw[place + 20 :]
                new_id = hash_object(TREE, new)
                if step % 97 == 96:
                    way = ((place, place + 20, patch), (0, 0, b""))
                    gathering.add(TREE, new_id, new, id, way)
                elif not gathering.add_patched(new_id, len(new), id, place, patch):
                    gathering.add(TREE, new_id, new, id, ((place, place + 20, patch),))
                raw, id = new, new_id
            packs.append(gathering.write(Files(durable=False), folder))
    finally:
        beside.close()
        here.close()
    assert packs[0].name == packs[1].name
    subprocess.run(["git", "verify-pack", str(packs[1].with_suffix(".idx"))], check=True)


def test_large_contents_are_told_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides hold what is told together twice, so thousands of large files must not come in few frames."""
    most: list[int] = []
    beside = Beside(tmp_path, level=0)
    send = Beside.send

    def sending(beside: Beside, calls: list[Call], contents: Sequence[bytes] = ()) -> None:
        most.append(sum(map(_bytes_of, calls)) + sum(map(len, contents)))
        send(beside, calls, contents)

    monkeypatch.setattr(Beside, "send", sending)
    try:
        gathering = beside.begin()
        chance = random.Random(5)
        old = b""
        for number in range(40):
            content = chance.randbytes(1 << 18)
            gathering.add_blob(hash_object(BLOB, content), content, None, None, None)
            told = old + content[: 1 << 10]
            gathering.add_blob(hash_object(BLOB, told), told, hash_object(BLOB, old), old, None)
            old = told if number % 10 else content
        gathering.write(Files(durable=False), tmp_path)
    finally:
        beside.close()
    assert sum(most) > 40 << 18
    assert max(most) < 1 << 21


def _bytes_of(call: Call) -> int:
    return sum(len(given) for given in call[1] if isinstance(given, bytes))


def test_a_step_that_is_taken_leaves_nothing_of_its_pack_in_the_process(tmp_path: Path) -> None:
    said: list[bytes] = []
    packer = Packer(tmp_path, -1, bytes, said.append)
    pack = weakref.ref(packer._pack)
    packer.do([(BEGIN, ())])
    assert pack() is None
    pack = weakref.ref(packer._pack)
    packer.do([(FINISH, ())])
    assert said[1].startswith(b"PACK")
    packer.do([(REMEMBER, ())])
    assert pack() is None


def test_large_entries_of_a_pack_are_not_held_twice() -> None:
    pack = PackWriter(level=0)
    for number in range(20):
        content = bytes([number]) * (1 << 20)
        pack.add(BLOB, hash_object(BLOB, content), content)
    pieces = list(pack.pieces())
    assert all(piece is chunk for piece, chunk in zip(pieces[1:], pack._chunks, strict=True))
    assert sum(map(len, pieces)) == pack.size


def test_what_no_frame_holds_is_gathered_here(tmp_path: Path) -> None:
    beside = Beside(tmp_path, level=-1)
    try:
        with pytest.raises(Gone, match="more than a frame holds"):
            beside.send([(0, (object(),))])
    finally:
        beside.close()


def test_the_process_ends_with_the_one_that_started_it_though_a_fork_lives_on(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\nfrom pathlib import Path\nfrom qodebase.trunk.beside import Beside\n"
        "beside = Beside(Path(sys.argv[1]), level=-1)\nbeside.begin()\nfork = os.fork()\n"
        "if fork: print(beside._process.pid, fork, flush=True)\ntime.sleep(60)\n"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child, fork = map(int, parent.stdout.readline().split())
        parent.send_signal(signal.SIGKILL)
    try:
        until = time.monotonic() + 10
        while time.monotonic() < until and _runs(child):
            time.sleep(0.02)
        assert not _runs(child)
        assert not _ended(fork)
    finally:
        os.kill(fork, signal.SIGKILL)


def _ended(process: int) -> bool:
    try:
        return not Path(f"/proc/{process}/cmdline").read_bytes()
    except FileNotFoundError:
        return True


def _runs(process: int) -> bool:
    try:
        return b"packer" in Path(f"/proc/{process}/cmdline").read_bytes()
    except FileNotFoundError:
        return False


def test_ctrl_c_of_the_terminal_does_not_reach_the_process(tmp_path: Path) -> None:
    beside = Beside(tmp_path, level=-1)
    try:
        assert os.getsid(beside._process.pid) != os.getsid(0)
    finally:
        beside.close()
