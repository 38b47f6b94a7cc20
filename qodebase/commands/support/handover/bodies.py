"""The text of a pull request for a branch, in Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from shlex import quote

from qodebase.commands.support.handover.branches import Made
from qodebase.commands.support.handover.exporting import Exported
from qodebase.commands.support.handover.groups import SHARED
from qodebase.commands.support.handover.landed import Work
from qodebase.commands.support.layout import harmless, money
from qodebase.paths import RepoPath
from qodebase.record import Usage
from qodebase.runs import Settings

_MOST_BYTES = 60_000
"""GitHub takes 65,536 characters."""

_MARKS = re.compile(r"([\\`*\[\]<>#|~@&]|\b_|_\b)")


def body_of(made: Made, exported: Exported, settings: Settings, *, run: str, repository: str, onto: str) -> str:
    """Return the text: what was asked, counts, each intent with its files, cost, how to check it, how to carry it.

    Args:
        run: how the user names the run; ``repository`` and ``onto`` as well.
    """
    works = [one.work for one in made.branch.replayed]
    head = [f"# {_title(made, works)}", "", *_asked(works, settings), "", *_counts(made, works, exported, settings)]
    foot = [
        *_left_out(made, exported),
        "",
        "## Check it",
        "",
        "```",
        f"git fetch {quote(repository)} {made.name} 'refs/notes/qodebase:refs/notes/qodebase'",
        f"git log --notes=qodebase {exported.base[:12]}..{made.tip[:12]}",
        f"qodebase verify {quote(repository)} --branch {made.name}",
        "```",
        "",
        *_order(made, exported),
        "## After the merge",
        "",
        "Merge, rebase or squash it, in any order with the others. Then give the merged commits their records:",
        "",
        "```",
        f"qodebase carry {quote(run)} {quote(onto)} --repo {quote(repository)}",
        "git push origin refs/notes/qodebase",
        "```",
    ]
    rows = _rows(made, works)
    room = _MOST_BYTES - sum(len(line.encode()) + 1 for line in (*head, *foot))
    return "\n".join([*head, *_fitting(rows, room), *foot, ""])


def _title(made: Made, works: Sequence[Work]) -> str:
    if not works:
        return "The lines of all intents in " + ", ".join(map(_path, made.branch.shared))
    return f"{made.branch.name}: {_many(len(works), 'intent')}"


def _asked(works: Sequence[Work], settings: Settings) -> list[str]:
    """Return what was asked, in a sentence and an example."""
    lines = [f"The job `{settings.job}`, run `{settings.run}`, landed this, an agent for each intent."]
    if works:
        lines += ["", f"Asked, for example: {_plain(works[0].asked)}"]
    return lines


def _counts(made: Made, works: Sequence[Work], exported: Exported, settings: Settings) -> list[str]:
    usage = sum((work.record.usage for work in works), Usage())
    models = Counter(work.record.model for work in works)
    redone = Counter(by for one in made.branch.replayed for by in one.redone.values())
    lanes = Counter(work.record.lane for work in works)
    checks = {check for work in works for check in work.record.checks}
    cost = "unknown" if usage.cost_usd is None else money(usage.cost_usd)
    rows = {
        "files": str(len(made.branch.edits)),
        "commits": str(made.commits),
        "models": _counted(models),
        "lanes": _counted(lanes),
        "cost": f"{cost}, {usage.calls:,} calls, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out",
        "checks": f"{len(checks)}, green on the trees that the run tested"
        if checks
        else "none but the job's own proof",
        "moved since": _counted(redone),
        "made without a language model": str(sum(work.record.deterministic for work in works) or ""),
        "simulated": str(sum(work.record.simulated for work in works) or ""),
        "begins on": f"`{exported.base[:12]}`; the run began on `{settings.base[:12]}`",
    }
    if not works:
        rows = {name: rows[name] for name in ("files", "commits", "begins on")}
    return ["| | |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in rows.items() if text)]


def _rows(made: Made, works: Sequence[Work]) -> list[str]:
    if not works:
        return []
    edits = {one.work.intent: one.edits for one in made.branch.replayed}
    rows = ["", "## Intents", ""]
    for work in works:
        files = ", ".join(map(_path, edits[work.intent] or work.shared))
        usage = work.record.usage
        cost = f", {money(usage.cost_usd)}" if usage.cost_usd else ""
        rows.append(f"- {_plain(work.asked)}: {files} ({_plain(work.record.model)}{cost})")
    return rows


def _fitting(rows: list[str], room: int) -> Iterable[str]:
    """Yield rows as far as there is room for them, then how many are left."""
    for number, row in enumerate(rows):
        room -= len(row.encode()) + 1
        if room < 100:
            yield f"- and {len(rows) - number} more, in the branch's log"
            return
        yield row


def _left_out(made: Made, exported: Exported) -> list[str]:
    """Return what is in no branch: the group's own, and in the last branch also what was not wanted."""
    out = [(one.work, one.why) for one in made.branch.left_out]
    out += [(work, "the branch it begins on holds it already") for work in made.branch.there]
    if made.branch.name == SHARED:
        told = {one.work.intent for other in exported.branches for one in other.branch.left_out}
        out += [(one.work, one.why) for one in exported.left_out if one.work.intent not in told]
        out += [(work, "dropped on request") for work in exported.dropped]
    if not out:
        return []
    lines = [f"- {_plain(work.asked)}: {_plain(why)}" for work, why in out]
    return ["", "## Left out", "", *_fitting(lines, _MOST_BYTES // 4)]


def _order(made: Made, exported: Exported) -> list[str]:
    """Say which other branches hold what intents of this one came after."""
    ours = {one.work.intent for one in made.branch.replayed}
    after = {intent for one in made.branch.replayed for intent in one.work.after} - ours
    others = [
        other.name
        for other in exported.branches
        if other.name != made.name and after & {one.work.intent for one in other.branch.replayed}
    ]
    if not others:
        return []
    return [f"It came after work in {', '.join(f'`{name}`' for name in others)}: merge those first.", ""]


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{_plain(name)}: {count:,}" for name, count in counts.most_common())


def _path(path: RepoPath) -> str:
    """Return a path as code, whatever backquotes it holds."""
    text = harmless(path.text)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    gap = " " if "`" in text else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def _plain(text: str) -> str:
    """Return a text as one line that Markdown takes for plain words, and that pings nobody."""
    return _MARKS.sub(lambda found: f"&#{ord(found[0])};", " ".join(harmless(text).split()))


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")
