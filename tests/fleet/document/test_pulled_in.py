"""Files that others pull in as text take no header: there it may be an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.jobs.document.job import Document
from fleet.jobs.document.settings import Settings
from qodebase.change import REGULAR
from qodebase.collision import Entry
from qodebase.edits import blob_id
from qodebase.intent import Ending
from qodebase.paths import CommitId, RepoPath

FILES = {
    b"src/lib.rs": b'include!("../tables/prime.rs");\nmod odd { include! ["odd.rs"]; }\n',
    b"src/odd.rs": b"pub const ODD: [u8; 2] = [1, 3];\n",
    b"src/even.rs": b"pub const EVEN: [u8; 2] = [2, 4];\n",
    b"tables/prime.rs": b"pub const PRIME: [u8; 2] = [2, 3];\n",
}


class Files:
    commit = CommitId("1" * 40)

    def __init__(self, files: Mapping[bytes, bytes]) -> None:
        self.files = files

    def entry(self, path: RepoPath) -> Entry | None:
        return Entry(REGULAR, blob_id(self.files[path])) if path in self.files else None

    def read(self, path: RepoPath) -> bytes:
        return self.files[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path, content in sorted(self.files.items()):
            yield RepoPath(path), Entry(REGULAR, blob_id(content))


def _skipped(**settings: object) -> dict[str, str]:
    job = Document(Settings(index="", **settings))  # type: ignore[arg-type]
    job.open(Files(FILES))
    return {one.scope[0].text: one.reason for one in job.intents() if one.ending is Ending.SKIPPED}


def test_files_that_rust_code_includes_are_skipped() -> None:
    reason = "no safe place: other files pull it in as text"
    assert _skipped() == {"src/odd.rs": reason, "tables/prime.rs": reason}


def test_who_includes_a_file_is_found_outside_of_the_chosen_paths_too() -> None:
    assert set(_skipped(paths=("tables/**",))) == {"tables/prime.rs"}
