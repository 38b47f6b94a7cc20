"""`qodebase export`: a run's landings as branches that share no path, with a text for a pull request each."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting, say
from qodebase.commands.support.layout import columns, harmless
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qodebase.commands.support.handover.exporting import Exported
    from qodebase.paths import CommitId
    from qodebase.runs import RunFolder

_NAMED = 20
_KINDS = {"lane": "lanes", "model": "models"}


class NoFolder(QodebaseError):
    """A folder that cannot be written."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def export(
        run: RunName,
        onto: Annotated[
            str, typer.Option("--onto", metavar="REF", help="Where the branches begin: a branch, tag or commit.")
        ],
        by: Annotated[
            Literal["lane", "owner", "folder"],
            typer.Option("--by", help="A branch for each lane, owner (CODEOWNERS of REF) or top folder."),
        ] = "lane",
        max_files: Annotated[
            int, typer.Option("--max-files", metavar="N", min=1, help="Split branches of more files.")
        ] = 200,
        squash: Annotated[bool, typer.Option("--squash", help="One commit a branch, which names all intents.")] = False,
        drop: Annotated[
            list[str] | None,
            typer.Option(
                metavar="SELECTOR",
                help="Leave out: an id, path or commit; `lane=NAME`, `model=NAME` or `where=SQL`. Repeatable.",
            ),
        ] = None,
        repo: Annotated[
            Path | None, typer.Option("--repo", metavar="PATH", help="Another repository than the run was started on.")
        ] = None,
        out: Annotated[
            Path | None, typer.Option("--out", "-o", metavar="PATH", help="Where the texts go. [default: RUN/export]")
        ] = None,
        force: Annotated[
            bool, typer.Option("--force", help="Move branches of these names, where nobody else moves them meanwhile.")
        ] = False,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would come out; write nothing.")] = False,
        json: Json = False,
    ) -> int:
        """Replay what a run landed onto REF, as branches and pull request texts.

        Branches are called qodebase/RUN-ID/GROUP and share no path, so they merge in any order; paths that all share
        (an index) get a last branch. What moved in REF is merged or redone by rules; what cannot be is left out and
        named (exit code 1). After a squash or rebase merge, `qodebase carry` finds the intents again.
        """
        from qodebase.commands.support.opening import find_run

        told = export_of(
            find_run(run),
            onto,
            by=by,
            max_files=max_files,
            squash=squash,
            drop=drop or (),
            repo=repo,
            out=out,
            force=force,
            dry_run=dry_run,
        )
        put_json(told) if json else put("\n".join(map(harmless, lines_of(told))))
        if dry_run:
            say("dry run: nothing was written")
        elif told["branches"] and not json:
            there = ["--repo", str(repo)] if repo else []
            say(f"after the merge: {shlex.join(['qodebase', 'carry', run, onto, *there])}")
        return 1 if told["left_out"] else 0


def export_of(
    folder: RunFolder,
    onto: str,
    *,
    by: str = "lane",
    max_files: int = 200,
    squash: bool = False,
    drop: Sequence[str] = (),
    repo: Path | None = None,
    out: Path | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Export a run and return as plain data what came out; the arguments are the command's.

    Raises:
        QodebaseError: what is wrong, and what to do.
    """
    from qodebase.commands.support.handover.exporting import Export, export
    from qodebase.commands.support.handover.groups import By

    repository = repo or Path(folder.settings().repository)
    wanted = Export(
        repository=repository,
        onto=onto,
        by=By(by),
        most=max_files,
        squash=squash,
        force=force,
        drop=dropped(folder, drop),
    )
    exported = export(folder, wanted, dry_run=dry_run)
    texts = {} if dry_run else write_texts(folder, exported, out or folder.root / "export", repository, onto)
    return told_of(exported, texts)


def dropped(folder: RunFolder, selectors: Sequence[str]) -> list[CommitId]:
    """Return the landings that selectors mean; raises where one of them means none."""
    from qodebase.commands.support.undoing import Selector, selected

    found: list[CommitId] = []
    for text in selectors:
        kind, equals, value = text.partition("=")
        if equals and kind == "where":
            selector = Selector(where=value)
        elif equals and kind in _KINDS:
            selector = Selector(lanes=[value]) if kind == "lane" else Selector(models=[value])
        else:
            selector = Selector(intents=[text])
        found += selected(folder, selector)
    return found


def write_texts(folder: RunFolder, exported: Exported, out: Path, repository: Path, onto: str) -> dict[str, str]:
    """Write the text of each branch, and return where each is, by the branch's name."""
    from qodebase.commands.support.handover.bodies import body_of

    texts = {}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for made in exported.branches:
            target = out / f"{made.branch.name}.md"
            settings = folder.settings()
            text = body_of(made, exported, settings, run=str(folder.root), repository=str(repository), onto=onto)
            target.write_text(text)
            texts[made.name] = str(target)
    except OSError as error:
        raise NoFolder(f"{out} cannot be written: {error}", hint="Give another folder with --out.") from None
    return texts


def told_of(exported: Exported, texts: dict[str, str]) -> dict[str, Any]:
    """Return what came out as plain data."""
    return {
        "base": exported.base,
        "branches": [
            {
                "branch": made.name,
                "commit": made.tip,
                "commits": made.commits,
                "intents": [one.work.intent for one in made.branch.replayed],
                "files": len(made.branch.edits),
                "redone": sum(len(one.redone) for one in made.branch.replayed),
                "text": texts.get(made.name, ""),
            }
            for made in exported.branches
        ],
        "left_out": {one.work.intent: one.why for one in exported.left_out},
        "dropped": [work.intent for work in exported.dropped],
        "there": [work.intent for work in exported.there],
        "undone": list(exported.works.undone),
        "foreign": list(exported.works.foreign),
    }


def lines_of(told: dict[str, Any]) -> list[str]:
    """Return the same as lines for people."""
    rows = [
        (
            one["branch"],
            f"{len(one['intents'])} intents",
            f"{one['files']} files",
            f"{one['commits']} commits",
            one["text"],
        )
        for one in told["branches"]
    ]
    lines = columns(rows, right=(1, 2, 3))
    lines += [f"left out: {intent}: {why}" for intent, why in list(told["left_out"].items())[:_NAMED]]
    more = len(told["left_out"]) - _NAMED
    lines += [f"  and {more} more: --json names all"] if more > 0 else []
    notes = {
        "dropped": "dropped, as asked",
        "there": f"in {told['base'][:12]} already",
        "undone": "undone on the run's main, not exported",
        "foreign": "commits of people on the run's main, not exported",
    }
    lines += [f"{len(told[name])} {text}" for name, text in notes.items() if told[name]]
    return lines or ["nothing to export"]
