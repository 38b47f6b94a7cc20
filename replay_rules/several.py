"""Rule ``several``: a file where one place is of one rule's kind and another place of another's.

A change that adds a function most often adds an import and an entry of ``__all__`` too, so one file collides at several
places of different kinds. Each place is decided by the rule of its kind with that rule's own invariant; one place that
none of them can prove leaves the whole file undecided.
"""

from __future__ import annotations

from qodebase.collision import Collision, Declined, Resolved
from replay_rules import (
    clauses,
    enum_members,
    imports,
    key_sets,
    routes,
    signature_union,
    symbols_added,
    table_rows,
    twin_functions,
)
from replay_rules.sequences import PATHS
from replay_rules.weave import weave

APPLIES = ("*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts", *PATHS)
ORDER = 390


def rule(collision: Collision) -> Resolved | Declined:
    r"""Decide every place by the rule of its kind.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"import os\n\n\ndef a():\n    return os\n"
    >>> main = base.replace(b"os\n", b"os\nimport re\n", 1) + b"\n\ndef b():\n    return re\n"
    >>> change = base.replace(b"os\n", b"os\nimport sys\n", 1) + b"\n\ndef c():\n    return sys\n"
    >>> sides = [Side(content=text) for text in (base, main, change)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == main.replace(b"re\n", b"re\nimport sys\n", 1) + b"\n\ndef c():\n    return sys\n"
    True
    """
    return weave(collision, POLICIES)


POLICIES = (
    *imports.POLICIES,
    *key_sets.POLICIES,
    *twin_functions.POLICIES,
    *symbols_added.POLICIES,
    *enum_members.POLICIES,
    *routes.POLICIES,
    *clauses.POLICIES,
    *table_rows.POLICIES,
    *signature_union.POLICIES,
)
