"""Index lines say what the landed file calls for: a header may become the documentation of what stands below it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet.jobs.document.code_map import outline_of
from fleet.jobs.document.index import index_lines, lines_of
from fleet.jobs.document.job import Document
from fleet.jobs.document.settings import Settings
from qodebase.change import REGULAR
from qodebase.collision import Entry
from qodebase.edits import blob_id, materialise
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Accepted

SOURCES = {
    b"a.rb": b"module Shop\n  class Box\n    def open\n    end\n  end\nend\n",
    b"a.py": b"class Box:\n    def open(self):\n        pass\n",
    b"a.js": b"export class Box {}\n",
    b"a.go": b"package shop\n\nfunc Open() {}\n",
    b"A.java": b"package shop;\n\npublic class A {}\n",
    b"a.rs": b"pub fn open() {}\n",
    b"a.c": b"int shop_open(void) { return 0; }\n",
    b"a.swift": b"public func open() {}\n",
}


class OneFile:
    commit = CommitId("1" * 40)

    def __init__(self, path: bytes) -> None:
        self.path = RepoPath(path)
        self.content = SOURCES[path]

    def entry(self, path: RepoPath) -> Entry | None:
        return Entry(REGULAR, blob_id(self.content)) if path == self.path else None

    def read(self, path: RepoPath) -> bytes:
        return {self.path: self.content}[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        yield self.path, Entry(REGULAR, blob_id(self.content))


@pytest.mark.parametrize("name", SOURCES)
def test_the_change_asks_for_the_lines_that_the_landed_file_calls_for(name: bytes) -> None:
    job, tree = Document(Settings(usage=False, screen=False)), OneFile(name)
    job.open(tree)
    (intent,) = job.intents()
    accepted = job.accept(intent, "Opens boxes of a shop and says what lies in them.", tree)
    assert isinstance(accepted, Accepted)
    index = RepoPath(b"docs/API_INDEX.md")
    edit = materialise(accepted.change, tree, lambda path: path == tree.path)[tree.path]
    assert edit is not None
    landed = outline_of(tree.path, edit.content)
    assert landed is not None
    assert lines_of(accepted.change.operations, index) == index_lines(tree.path, landed, most=Settings().names)
