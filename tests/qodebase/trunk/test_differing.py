"""Where two commits differ, against C git."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

from qodebase.trunk.reader import Reader


def test_two_commits_differ_where_git_says_so(tmp_path: Path) -> None:
    random = Random(5)
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q", "-b", "main", "--template="], check=True)
    paths = [f"{folder}{name}" for folder in ("", "a/", "a/b/", "a/b/c/", "d/", "d.e/") for name in ("x", "y", "z")]
    # A name that is a file in one commit and a folder in another.
    paths += ["f", "f/x", "f/y"]
    stream = []
    for number in range(12):
        stream.append(f"commit refs/heads/main\ncommitter P <p@example.org> {number} +0000\ndata 0\ndeleteall\n")
        chosen = [path for path in paths if random.random() < 0.6]
        if "f" in chosen:
            chosen = [path for path in chosen if not path.startswith("f/")]
        for path in chosen:
            mode, text = random.choice(["100644", "100755"]), str(random.randrange(3))
            stream.append(f"M {mode} inline {path}\ndata {len(text)}\n{text}\n")
    subprocess.run([*git, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    commits = subprocess.run([*git, "rev-list", "main"], capture_output=True, check=True).stdout.decode().split()
    with Reader(tmp_path) as reader:
        for one, other in zip(commits, [*commits[1:], commits[0]], strict=True):
            words = [*git, "diff-tree", "-r", "-z", "--no-renames", "--name-only", one, other]
            told = subprocess.run(words, capture_output=True, check=True).stdout.split(b"\0")[:-1]
            assert sorted(reader.differences(one, other)) == sorted(set(told))
        assert reader.differences(commits[0], commits[0]) == []
