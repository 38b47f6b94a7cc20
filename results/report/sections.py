"""The sections of a page on one run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qodebase.intent import Ending
from results.environment import environment_of
from results.metrics import metric_of
from results.plots import outcomes, over_time
from results.report.figures import plot_figure
from results.report.markup import Child, Markup, breakable, el, table
from results.report.subject import Subject
from results.report.words import count, day, figure, money, seconds, share, valued

if TYPE_CHECKING:
    import polars as pl

_TOP = 10
_REASONS = 15
_TEXT = 220
_VERIFY = "qodebase verify"


def heading(subject: Subject) -> Markup:
    """Return what the run was, in two lines."""
    settings = subject.settings
    who = settings.model + (f", replays by {settings.replay_model}" if settings.replay_model else "")
    facts = [
        ("job", settings.job),
        ("model", who),
        ("repository", settings.repository.rstrip("/").rpartition("/")[2]),
        ("base", str(settings.base)[:12]),
        ("agents", count(settings.workers)),
        ("frozen", day(settings.created)),
    ]
    what = ["seconds are virtual"] if subject.simulated else []
    if subject.simulated_model:
        what.append("tokens and costs are those of a simulated model")
    badge = el("p", f"simulated: {'; '.join(what)}", class_="badge") if what else None
    return el(
        "div",
        el("p", lede(subject), class_="lede"),
        badge,
        el("dl", (el("div", el("dt", name), el("dd", value)) for name, value in facts), class_="facts"),
    )


def lede(subject: Subject) -> str:
    """Return the run in one sentence."""
    metrics = subject.metrics
    intents, landed = metrics["intents"], metrics["landed"]
    took = f" in {seconds(metrics['seconds'])} of work" if "seconds" in metrics else ""
    lost = metrics.get("checks_lost", 0)
    ends = f"; lost checks: {count(lost)}" if lost else ""
    pending = subject.endings.get(str(Ending.PENDING), 0)
    open_ = f", {count(pending)} pending" if pending else ""
    return f"{count(landed)} of {count(intents)} intents landed{took}{open_}{ends}."


def tiles(subject: Subject) -> Markup:
    """Return the figures that are looked at first."""
    metrics = subject.metrics
    of = metrics.get

    def p(name: str) -> str:
        return " · ".join(f"p{at} {seconds(of(f'{name}_p{at}_s'))}" for at in (90, 99))

    redone = [(words, of(f"redone_by_{step}", 0.0)) for step, words in (("merge", "merge"), ("rule", "rules"))]
    by = ", ".join(f"{words} {count(value)}" for words, value in (*redone, ("model", of("redone_by_model", 0.0))))
    lost = of("checks_lost", 0.0)
    shown = [
        ("Landed", count(of("landed")), f"of {count(of('intents'))} intents, {share(of('landed_share'))}", ""),
        ("Landed a second", figure(of("landed_per_second")), f"busiest second {figure(of('busiest_second'))}", ""),
        ("Time to land, median", seconds(of("time_to_land_p50_s")), p("time_to_land"), ""),
        ("Wait at the gate, median", seconds(of("gate_wait_p50_s")), p("gate_wait"), ""),
        ("Collided", share(of("collision_rate")), f"of handed in; paths redone at last by {by}", ""),
        ("Not redone", count(of("not_redone")), "paths at which every step declined", ""),
        ("Cost", *_cost(subject), ""),
        ("Lost checks", count(lost), "of the contract, red on main", "bad" if lost else "good"),
    ]
    return el("ul", (_tile(*one) for one in shown), class_="tiles")


def ledger(subject: Subject) -> Iterator[Child]:
    """Yield how the intents ended, and whether journal and repository agree."""
    found = subject.ledger
    hint = el("code", f"{_VERIFY} {subject.folder.name} --full")
    if isinstance(found, str):
        yield el("p", f"The ledger cannot be drawn up: {found}", class_="verdict bad")
    else:
        words = "Balanced: journal and repository agree." if found.balanced else "Journal and repository do not agree."
        yield el("p", words, class_=f"verdict {'good' if found.balanced else 'bad'}")
        yield el("p", found.sentence)
        for finding in (*found.discrepancies, *found.noted):
            yield el("p", f"{finding.message}: {', '.join(finding.intents[:_TOP])}", class_="finding")
    yield el("p", "The ledger is only counted here. To have every commit proved again: ", hint, class_="quiet")
    yield plot_figure(subject.key, outcomes.ledger(subject.frames))
    yield _reasons(subject.frames.intents)


def throughput(subject: Subject) -> Iterator[Child]:
    """Yield what landed over the run's time."""
    for plot in (over_time.throughput, over_time.in_flight, outcomes.time_to_land):
        yield plot_figure(subject.key, plot(subject.frames))


def lanes(subject: Subject) -> Iterator[Child]:
    """Yield the lanes over the run's time, and the trains."""
    yield plot_figure(subject.key, over_time.lanes(subject.frames))
    yield plot_figure(subject.key, outcomes.trains(subject.frames))


def collisions(subject: Subject) -> Iterator[Child]:
    """Yield what collided, where, and what declined to redo it."""
    yield plot_figure(subject.key, outcomes.collisions(subject.frames))
    places = subject.places.head(_TOP)
    if places.height:
        rows = [(_cut(path), count(met), count(intents)) for path, met, intents in places.iter_rows()]
        yield table("Paths that collided most", ("path", "collisions", "intents"), rows, numbers=(1, 2))
    said = subject.frames.collisions["declined"].explode().drop_nulls().value_counts(sort=True).head(_TOP)
    if said.height:
        told = [(_cut(why), count(times)) for why, times in said.iter_rows()]
        yield table("Why steps declined, most often first", ("step and reason", "times"), told, numbers=(1,))


def outliers(subject: Subject) -> Iterator[Child]:
    """Yield the slowest and the dearest intents, each with a way to its story."""
    import polars as pl

    intents = subject.frames.intents
    slow = intents.filter(pl.col("seconds").is_not_null()).sort("seconds", descending=True).head(_TOP)
    if slow.height:
        rows = [
            (
                _story(subject, row["intent"]),
                seconds(row["seconds"]),
                row["ending"],
                row["lane"],
                count(row["collided"]),
            )
            for row in slow.to_dicts()
        ]
        yield table("Slowest intents", ("intent", "took", "ending", "lane", "collided"), rows, numbers=(1, 4))
    tokens = pl.col("input_tokens") + pl.col("output_tokens")
    dear = intents.with_columns(tokens=tokens).filter((pl.col("cost_usd") > 0) | (pl.col("tokens") > 0))
    dear = dear.sort("cost_usd", "tokens", descending=True, nulls_last=True).head(_TOP)
    if dear.is_empty():
        yield el("p", "No intent cost anything: no call used a token that was counted.", class_="quiet")
        return
    rows = [
        (
            _story(subject, row["intent"]),
            money(row["cost_usd"]),
            count(row["tokens"]),
            count(row["calls"]),
            row["ending"],
        )
        for row in dear.to_dicts()
    ]
    yield table("Dearest intents", ("intent", "cost", "tokens", "calls", "ending"), rows, numbers=(1, 2, 3))


def calls(subject: Subject) -> Iterator[Child]:
    """Yield the model calls and what they cost."""
    yield plot_figure(subject.key, outcomes.calls(subject.frames))
    costs = subject.frames.costs
    if costs.height:
        head = ("model", "purpose", "calls", "answers", "cached", "tokens in", "tokens out", "cost")
        rows = [
            (
                row["model"],
                row["purpose"],
                count(row["calls"]),
                count(row["answers"]),
                count(row["cache_calls"]),
                count(row["input_tokens"]),
                count(row["output_tokens"]),
                money(row["cost_usd"]) + (" or more" if row["unknown_cost_calls"] else ""),
            )
            for row in costs.to_dicts()
        ]
        yield table("Calls and costs", head, rows, numbers=range(2, 8))


def losses(subject: Subject) -> Iterator[Child]:
    """Yield the checks of the contract that are red on main."""
    lost = subject.frames.losses
    if lost.is_empty():
        yield el("p", "No check of the contract was found red on main.")
        return
    rows = [
        (_cut(row["check"]), _story(subject, row["intent"]), _story(subject, row["lost_by"]), row["cause"])
        for row in lost.head(100).to_dicts()
    ]
    caption = f"Lost checks{f', the first 100 of {count(lost.height)}' if lost.height > 100 else ''}"
    yield table(caption, ("check", "whose", "lost by", "cause"), rows)


def metrics(subject: Subject) -> Iterator[Child]:
    """Yield every metric with its meaning."""
    rows = []
    for metric, value in subject.metrics.items():
        told = metric_of(metric)
        rows.append((breakable(metric), valued(value, told.unit), told.doc))
    yield table("All metrics", ("metric", "value", "what it is"), rows, numbers=(1,))


def environment(subject: Subject) -> Iterator[Child]:
    """Yield what the run was made with and on."""
    settings = json.loads((subject.folder.root / "settings.json").read_bytes())
    for caption, told in (("Settings", settings), ("Environment", environment_of(subject.folder))):
        rows = [(name, _cut(value)) for name, value in _flat("", told)]
        if rows:
            body = table(caption, ("name", "value"), rows)
            yield el("details", el("summary", f"{caption} ({len(rows)})"), body)
        else:
            yield el("p", f"{caption}: the run folder keeps none.", class_="quiet")


SECTIONS = (
    ("ledger", "Ledger", ledger),
    ("time", "Throughput", throughput),
    ("lanes", "Lanes", lanes),
    ("collisions", "Collisions", collisions),
    ("outliers", "Slowest and dearest", outliers),
    ("calls", "Model calls", calls),
    ("losses", "Losses", losses),
    ("metrics", "Metrics", metrics),
    ("environment", "Environment", environment),
)
"""For each section its id, its title and what makes it."""


def _tile(label: str, value: str, more: str, mood: str) -> Markup:
    parts = (el("span", label, class_="label"), el("strong", value), el("span", more, class_="more"))
    return el("li", parts, class_=mood or None)


def _cost(subject: Subject) -> tuple[str, str]:
    """Return what the calls cost, and what that was for each landing; of some it may not be known."""
    costs, of = subject.frames.costs, subject.metrics.get
    if unknown := int(costs["unknown_cost_calls"].sum()):
        known = float(costs["cost_usd"].sum())
        least = f"≥ {money(known)}" if known else "unknown"
        return least, f"not known of {count(unknown)} calls; {_tokens(of)} for each landing"
    return money(of("cost_usd")), f"{money(of('cost_per_landing_usd'))} and {_tokens(of)} for each landing"


def _tokens(of: Any) -> str:
    tokens = of("tokens_per_landing")
    return "no tokens" if not tokens else f"{figure(tokens)} tokens"


def _reasons(intents: pl.DataFrame) -> Markup | None:
    import polars as pl

    ended = intents.filter(pl.col("reason").fill_null("") != "").group_by("ending", "reason").agg(n=pl.len())
    ended = ended.sort("n", "ending", "reason", descending=[True, False, False])
    if ended.is_empty():
        return None
    rows: list[Sequence[Child]] = [
        (ending, _cut(reason), count(n)) for ending, reason, n in ended.head(_REASONS).iter_rows()
    ]
    if rest := int(ended[_REASONS:]["n"].sum()):
        rows.append(("", f"{count(ended.height - _REASONS)} other reasons", count(rest)))
    return table("Why intents did not land", ("ending", "reason", "intents"), rows, numbers=(2,))


def _story(subject: Subject, intent: str | None) -> Markup | str:
    if not intent:
        return ""
    return el("a", _cut(intent), href=f"#{subject.key}-stories", data_of=subject.key, data_intent=intent)


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]} …"


def _flat(prefix: str, value: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, dict) and inner:
            yield from _flat(f"{prefix}{name}.", inner)
        else:
            yield prefix + name, inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
