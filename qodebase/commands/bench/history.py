"""`qodebase bench history`: replay the real merges of a repository, and compare with git and with people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.bench.support.telling import put_figures
from qodebase.commands.support.console import Json, put, reporting

if TYPE_CHECKING:
    from qodebase.commands.bench.support.merge_history import History, Merged

_BINARY_LOOK = 8000
"""In so many bytes git looks for a NUL."""


def register(group: typer.Typer) -> None:
    """Add the bench."""

    @group.command()
    @reporting
    def history(
        repository: Annotated[Path, typer.Argument(metavar="REPO", help="A git repository with merge commits.")],
        limit: Annotated[int, typer.Option(metavar="N", min=0, help="Only the newest N merges; 0 for all.")] = 0,
        idempotent: Annotated[
            bool, typer.Option("--idempotent", help="Take what both sides made alike as meant once.")
        ] = False,
        files: Annotated[
            bool, typer.Option("--files", help="List files: objected, or resolved unlike people.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Replay the merge commits of a repository.

        Counts files that both sides changed: merged clean by git, resolved by us, equal to what people committed,
        declined, and objected (clean in git, but doubted by an invariant, which is named).
        """
        from qodebase.commands.bench.support.merge_history import History

        report = replayed(History(repository, idempotent=idempotent), limit=limit, listing=files)
        if json:
            put_figures(report)
        else:
            put("\n".join(_lines(report)))


def replayed(history: History, *, limit: int = 0, listing: bool = False) -> dict[str, Any]:
    """Replay merges and return the counts.

    ``equal`` is of ``ours``, ``git_equal`` of ``git_clean``; ``equivalent`` is the same code, or has two
    inserted blocks the other way round. ``beyond_git`` is of files in which git finds a
    conflict. ``objections`` names what doubted the clean merges that were then resolved by no rule either. ``renamed``
    counts those of the files that a side renamed; what git makes of them is `git merge-tree --write-tree`'s word.
    """
    from replay_rules.registry import chooser

    rules = chooser()
    counts: Counter[str] = Counter()
    objections: Counter[str] = Counter()
    by_rule: dict[str, Counter[str]] = {}
    listed: list[dict[str, str]] = []
    renamed: Counter[str] = Counter()
    for merged in history.files(limit):
        own: Counter[str] = Counter()
        by, told = _count(merged, rules(merged.collision.path), own, objections)
        counts.update(own)
        renamed.update(own if merged.renamed else {})
        if by:
            by_rule.setdefault(by, Counter()).update([told])
        if listing and told not in ("equal", "declined"):
            path = merged.collision.path.decode(errors="replace")
            listed.append({"commit": merged.commit, "path": path, "by": by, "what": told})
    names = ("files", "git_clean", "git_equal", "ours", "equal", "equivalent", "declined", "objected")
    return {
        "merges": history.merges,
        "left_out": history.left_out,
        **{name: counts[name] for name in names},
        "beyond_git": {
            "ours": counts["beyond"],
            "equal": counts["beyond_equal"],
            "equivalent": counts["beyond_equivalent"],
        },
        "renamed": {name: renamed[name] for name in names},
        "objections": dict(objections.most_common()),
        "objected_git_equal": counts["objected_git_equal"],
        "by_rule": {name: {"equal": row["equal"], "other": row["other"]} for name, row in sorted(by_rule.items())},
        **({"listed": listed} if listing else {}),
    }


def _count(merged: Merged, rules: tuple[str, ...], counts: Counter[str], objections: Counter[str]) -> tuple[str, str]:
    """Count one file; return what resolved it and how that compares to what people committed."""
    from qodebase.collision import Step
    from qodebase.commands.bench.support.replay_cases import is_equivalent
    from replay_rules.clean_merge import merge_file
    from replay_rules.ladder import Climbed, climb

    collision, committed = merged.collision, merged.committed.content
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    counts["files"] += 1
    clean = None
    if merged.renamed is not None:
        clean = merged.renamed.by_git
    elif base is not None and main is not None and change is not None and not _is_binary(base, main, change):
        clean = merge_file(base, main, change)
    climbed = climb(collision, rules)
    if merged.renamed is not None and merged.renamed.why:
        climbed = Climbed(None, (Step(by="follow", declined=merged.renamed.why),))
    git_equal = clean is not None and clean == committed
    counts.update({"git_clean": clean is not None, "git_equal": git_equal})
    if climbed.resolved is not None:
        equal = climbed.resolved.content == committed
        beyond = clean is None
        swapped = not equal and committed is not None and is_equivalent(collision, climbed.resolved.content, committed)
        counts.update({"ours": 1, "equal": equal, "equivalent": swapped})
        counts.update({"beyond": beyond, "beyond_equal": beyond and equal, "beyond_equivalent": beyond and swapped})
        return climbed.steps[-1].by, "equal" if equal else "other"
    counts["declined"] += 1
    if clean is None:
        return "", "declined"
    why = climbed.steps[0].declined
    name = why.partition(":")[0] if ":" in why else why
    counts.update({"objected": 1, "objected_git_equal": git_equal})
    objections[name] += 1
    return "", f"objected, and git was {'equal' if git_equal else 'other'}: {why}"


def _is_binary(*contents: bytes) -> bool:
    return any(b"\0" in content[:_BINARY_LOOK] for content in contents)


def _lines(report: dict[str, Any]) -> list[str]:
    def share(part: int, whole: int) -> str:
        return f"{part:,} of {whole:,} ({part / whole:.1%})" if whole else "none"

    renamed = report["renamed"]
    lines = [
        f"{report['merges']:,} merges, {report['files']:,} files that both sides changed",
        f"git: clean {share(report['git_clean'], report['files'])}, "
        f"equal to people {share(report['git_equal'], report['git_clean'])}",
        f"ours: resolved {share(report['ours'], report['files'])}, "
        f"equal to people {share(report['equal'], report['ours'])}",
        f"where git conflicts: resolved {report['beyond_git']['ours']:,}, "
        f"equal to people {share(report['beyond_git']['equal'], report['beyond_git']['ours'])}",
        f"renamed on a side {renamed['files']:,}: git clean {renamed['git_clean']:,}, equal {renamed['git_equal']:,}; "
        f"ours resolved {renamed['ours']:,}, equal {renamed['equal']:,}",
        f"declined {report['declined']:,}; of these clean in git, but doubted: {report['objected']:,}",
    ]
    lines += [f"  {name}: {count:,}" for name, count in report["objections"].items()]
    lines += [f"{name}: equal {row['equal']:,}, other {row['other']:,}" for name, row in report["by_rule"].items()]
    lines += [f"{one['commit'][:12]} {one['path']} {one['by']} {one['what']}" for one in report.get("listed", [])]
    return lines
