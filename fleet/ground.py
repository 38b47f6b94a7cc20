"""What a sitting stands on: its books, and the landing side of the fleet set up on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fleet.given.authors import author_of
from lanes.compose import Composer
from lanes.contract import Contract
from lanes.desk import Desk, Tell, tell_pushed
from lanes.fork import Main
from lanes.gate import Gate, NoChecks
from lanes.judging import Judge
from lanes.policy import Policy
from lanes.router import Router
from lanes.step import Terms
from lanes.train import Builder
from lanes.verdicts import Verdicts
from lanes.yard import Yard
from qodebase.code import CommitTree
from qodebase.journal import Journal
from qodebase.paths import CommitId
from qodebase.ports import Checker, Clock, HasChecks, Job, Redo
from qodebase.runs import Settings
from qodebase.segments import SegmentWriter
from qodebase.state import RunState
from qodebase.trunk.batch import Person
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader
from replay_rules.registry import chooser

_MANY_INTENTS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A run's open books, and what `open_main`, `open_desk`, `open_yard` and `compose` set up on them."""

    job: Job
    settings: Settings
    state: RunState
    clock: Clock
    journal: Journal
    store: SegmentWriter
    trunk: Trunk
    reader: Reader
    checker: Checker | None
    verdicts: Verdicts | None
    tell: Tell
    sign: Callable[[bytes], bytes] | None

    def open_main(self) -> Main:
        """Return the loop's view of main, with all that landed since the base."""
        reader, tip = self.reader, self.trunk.tip
        shared = frozenset(shared.path for shared in self.job.shared)
        main = Main(CommitTree(reader, tip), partial(CommitTree, reader), reader.differences, shared, reader.blob)
        if len(self.state.intents) >= _MANY_INTENTS:
            main.look_up_all()
        by_commit = {known.commit: known for known in self.state.intents.values() if known.commit}
        for commit in reversed(list(reader.log(tip, self.settings.base))):
            known = by_commit.get(commit.id)
            if known is not None:
                main.remember(known.intent.id, commit.id, known.touched, before=CommitId(commit.parents[0]))
            elif commit.parents:
                main.pass_by(commit.id, CommitId(commit.parents[0]))
        return main

    def policy(self) -> Policy:
        """Return how the run's lanes work."""
        settings = self.settings
        return Policy(
            train_max=settings.train_max,
            prefetch=settings.prefetch,
            contract=settings.contract,
            read_sets=settings.read_sets,
            inside=settings.replays == "inside",
        )

    def open_contract(self, main: Main) -> Contract:
        """Return the checks in force: standing ones, and those of what has landed, without what was ended or lost."""
        checks = self.job.checks() if isinstance(self.job, HasChecks) else {}
        known = self.state.intents.values()
        named = {name for one in known for name in one.intent.checks}
        landed = [(one.intent, one.commit) for one in known if one.commit is not None]
        return Contract(
            self.policy(),
            main,
            standing=[name for name in checks if name not in named],
            landed=sorted(landed, key=lambda one: main.position_of(one[1])),
            out=frozenset(self.state.out_of_force),
            watches=bool(checks),
        )

    def open_desk(self, main: Main) -> Desk:
        """Return the landing desk; whoever asks for it closes it."""
        reader = self.reader
        return Desk(
            terms=Terms(
                run=self.settings.run,
                shared=self.job.shared,
                author=lambda submission: author_of(submission.intent) or self._person(submission.agent),
                committer=lambda submission: self._person(submission.agent),
                sign=self.sign,
                simulated=self.clock.simulated,
            ),
            trunk=self.trunk,
            main=main,
            journal=self.journal,
            clock=self.clock,
            open_tree=partial(CommitTree, reader),
            between=lambda old, new: [commit.id for commit in reader.log(new, old)],
            sync=self._sync,
            tell=self.tell,
            contract=self.open_contract(main),
        )

    def open_yard(self, desk: Desk, redo: Redo | None) -> Yard:
        """Return the lanes."""
        job, rules = self.job, self.settings.rules
        return Yard(
            router=Router(self.settings.lanes),
            desk=desk,
            builder=Builder(
                desk.main, job.shared, chooser(rules.off, rules.bind), job.idempotent, named=desk.contract.watches
            ),
            judge=Judge(
                gate=Gate(self.checker or NoChecks(), self.verdicts if self.settings.read_sets else None),
                desk=desk,
                journal=self.journal,
                tree_of=lambda commit: self.reader.commit(commit).tree,
            ),
            journal=self.journal,
            clock=self.clock,
            redo=redo,
            shared=[shared.path for shared in job.shared],
            policy=self.policy(),
            sitting=self.state.sittings,
        )

    def compose(self) -> None:
        """Compose the shared paths that were kept in parts, once all intents have ended."""
        composer = Composer(
            run=self.settings.run,
            trunk=self.trunk,
            journal=self.journal,
            clock=self.clock,
            author=self._person("qodebase"),
            sign=self.sign,
        )
        composer.compose_all(self.job.shared, frozenset(self.state.uncomposed))
        tell_pushed(self.trunk, self.journal)

    def _sync(self) -> None:
        self.store.sync()
        self.journal.sync()

    def _person(self, agent: str) -> Person:
        at = int(self.clock.now())
        name, _, mail = self.settings.author.partition("<")
        if name.strip():
            return Person(name=name.strip(), mail=mail.rstrip("> "), time=at)
        return Person(name=agent, mail=f"{agent}@qodebase.invalid", time=at)
