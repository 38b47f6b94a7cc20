"""Secrets in text: the rules of detect-secrets that name a kind of key, a few of our own, and the user's patterns.

Only the rules' regular expressions are taken from detect-secrets: its scanner works on files and on settings of the
whole process. Rules that guess (entropy, names of variables, addresses) are left out: on code they take hashes, ids and
test data for secrets. A rule is tried only on lines that hold one of its hints, a piece of text without which it cannot
match, so that a prompt of 24,000 characters takes a part of a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import NamedTuple

from qodebase.errors import QodebaseError


class BadSecretPattern(QodebaseError):
    """A user's pattern that cannot find secrets."""


class Found(NamedTuple):
    """A secret in a text: its kind, and where it begins and ends, in characters."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One kind of secret.

    Attributes:
        hints: texts of which a match, or its line, holds one (in lower case: whatever its case); empty: none is known.
        short: whether a match may do without a word of `_LONG` characters.
        whole: where a match really ends; None: where the pattern says.
        valid: whether a match is such a secret.
    """

    kind: str
    patterns: tuple[re.Pattern[str], ...]
    hints: tuple[str, ...] = ()
    short: bool = False
    whole: Callable[[str, int, int], int] | None = None
    valid: Callable[[str], bool] | None = None

    def find(self, text: str, lines: _Lines) -> Iterator[Found]:
        if self.short:
            places = [(0, len(text))] if not self.hints or any(hint in text for hint in self.hints) else []
        else:
            places = lines.places if lines.places and lines.hold(self.hints) else []
        for pattern in self.patterns:
            for start, end in places:
                for match in pattern.finditer(text, start, end):
                    if self.valid is None or self.valid(match.group()):
                        last = self.whole(text, *match.span()) if self.whole else match.end()
                        yield Found(self.kind, match.start(), last)


class _Lines:
    """The lines of a text that hold a long word: where they are, and their text."""

    def __init__(self, text: str) -> None:
        self.places: list[tuple[int, int]] = []
        at = end = 0
        for word in [word for word in text.split() if len(word) >= _LONG]:
            at = text.find(word, at)
            if at >= end:
                start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
                end = len(text) if end < 0 else end
                self.places.append((start, end))
            at += len(word)
        self._text = "\n".join([text[start:end] for start, end in self.places])
        self._lowered = self._text.lower()

    def hold(self, hints: Sequence[str]) -> bool:
        return not hints or any(hint in (self._lowered if hint.islower() else self._text) for hint in hints)


_LONG = 20
_ASSIGNED = ("_", "-", "api", "key", "pw", "pass", "token")
_GITLAB = ("pat", "dt", "ft", "soat", "rt", "cbt", "imt", "ptt", "agent", "oas")
_TAKEN: dict[str, tuple[str, ...]] = {
    "artifactory.ArtifactoryDetector": ("AKC", "AP"),
    "aws.AWSKeyDetector": ("A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aws"),
    "azure_storage_key.AzureStorageKeyDetector": ("AccountKey=",),
    "basic_auth.BasicAuthDetector": ("://",),
    "cloudant.CloudantDetector": ("clou", *(f"cl{more}" for more in _ASSIGNED)),
    "discord.DiscordBotTokenDetector": (),
    "github_token.GitHubTokenDetector": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "gitlab_token.GitLabTokenDetector": (*(f"gl{more}-" for more in _GITLAB), "GR1348941"),
    "ibm_cos_hmac.IbmCosHmacDetector": ("secret",),
    "mailchimp.MailchimpDetector": ("-us",),
    "npm.NpmDetector": ("_authtoken",),
    "openai.OpenAIDetector": ("T3BlbkFJ",),
    "pypi_token.PypiTokenDetector": ("pypi-",),
    "sendgrid.SendGridDetector": ("SG.",),
    "slack.SlackDetector": ("xox", "hooks.slack.com"),
    "softlayer.SoftlayerDetector": ("softlayer", *(f"sl{more}" for more in _ASSIGNED)),
    "square_oauth.SquareOAuthDetector": ("sq0csp-",),
    "stripe.StripeDetector": ("k_live_",),
    "telegram_token.TelegramBotTokenDetector": (":A",),
    "twilio.TwilioKeyDetector": ("AC", "SK"),
}
"""The detectors that are used, by module and class of `detect_secrets.plugins`, each with its hints (see `_Rule`)."""

_SHORT = ("basic_auth.BasicAuthDetector",)

_KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----")
_KEY_LINE = re.compile(r"[^\S\n]*(?:[#/*+>|-]+[^\S\n]*)?(?:[A-Za-z0-9+/=]+|[A-Za-z-]+: .*|)[^\S\n]*(?:\n|$)")
_TOKEN_REST = re.compile(r"[A-Za-z0-9_.+/=-]*")
_OWN = (
    _Rule(
        kind="GitHub Token",
        patterns=(re.compile(r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),),
        hints=("github_pat_",),
    ),
    _Rule(
        kind="Anthropic Token",
        patterns=(re.compile(r"sk-ant-[A-Za-z0-9]{2,10}-[A-Za-z0-9_-]{32,}"),),
        hints=("sk-ant-",),
    ),
    _Rule(kind="OpenAI Token", patterns=(re.compile(r"sk-proj-[A-Za-z0-9_-]{40,}"),), hints=("sk-proj-",)),
    _Rule(kind="Google API Key", patterns=(re.compile(r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),), hints=("AIza",)),
)


class Scanner:
    """Find secrets in text; safe to share between threads.

    Args:
        patterns: the user's regular expressions by name; a name is the kind of what they find.

    Raises:
        BadSecretPattern: one is no regular expression, or matches an empty text.
    """

    def __init__(self, patterns: Mapping[str, Sequence[str]] | None = None) -> None:
        self._user = tuple(
            _Rule(kind=name, patterns=tuple(_compiled(name, pattern) for pattern in written), short=True)
            for name, written in (patterns or {}).items()
        )

    def find(self, text: str) -> list[Found]:
        """Return the secrets of a text in order; those that overlap are one, and what a line allows is left out.

        A line that holds ``pragma: allowlist secret``, or follows one that holds ``pragma: allowlist nextline
        secret``, may hold a secret; so it is for detect-secrets.
        """
        lines = _Lines(text)
        rules = _rules() if lines.places else _short_rules()
        found = {one for rule in (*rules, *self._user) for one in rule.find(text, lines)}
        if not found:
            return []
        kept: list[Found] = []
        for one in sorted(found, key=lambda one: (one.start, -one.end, one.kind)):
            if kept and one.start < kept[-1].end:
                kept[-1] = kept[-1]._replace(end=max(kept[-1].end, one.end))
            elif not _allowed(text, one.start):
                kept.append(one)
        return kept


def load_rules() -> None:
    """Import the rules, which takes half a second the first time."""
    _rules()


def placeholder(kind: str) -> str:
    """Return what stands for a secret of a kind in what is sent."""
    return f"[secret: {kind}]"


def redacted(text: str, found: Sequence[Found]) -> str:
    """Return a text with a placeholder for each secret."""
    parts = []
    at = 0
    for one in found:
        parts += [text[at : one.start], placeholder(one.kind)]
        at = one.end
    return "".join([*parts, text[at:]])


@cache
def _rules() -> tuple[_Rule, ...]:
    return (*(_taken(name, hints) for name, hints in _TAKEN.items()), _json_web_token(), _private_key(), *_OWN)


@cache
def _short_rules() -> tuple[_Rule, ...]:
    return tuple(rule for rule in _rules() if rule.short)


def _taken(name: str, hints: tuple[str, ...]) -> _Rule:
    module, _, detector = name.partition(".")
    kind = getattr(import_module(f"detect_secrets.plugins.{module}"), detector)
    return _Rule(kind=kind.secret_type, patterns=tuple(kind.denylist), hints=hints, short=name in _SHORT)


def _json_web_token() -> _Rule:
    """Return the rule of the detector, its pattern written so that one look at each word is enough."""
    from detect_secrets.plugins.jwt import JwtTokenDetector as Taken

    return _Rule(
        kind=Taken.secret_type,
        patterns=(re.compile(r"eyJ[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_=-]+)?"),),
        hints=("eyj",),
        whole=lambda text, start, end: _end_of(_TOKEN_REST.match(text, end), end),
        valid=lambda token: "." in token and Taken.is_formally_valid(token),
    )


def _private_key() -> _Rule:
    from detect_secrets.plugins.private_key import PrivateKeyDetector as Taken

    more = re.compile(r"BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY|PuTTY-User-Key-File-\d")
    return _Rule(
        kind=Taken.secret_type,
        patterns=(*Taken.denylist, more),
        hints=("PRIVATE KEY", "PuTTY-User-Key-File-"),
        short=True,
        whole=_end_of_key,
    )


def _end_of_key(text: str, start: int, end: int) -> int:
    """Return where a private key ends: at its last line, or behind the lines that could be part of it."""
    if closed := _KEY_END.search(text, end, end + 20_000):
        return closed.end()
    at = text.find("\n", end) + 1
    while at and at < len(text) and (line := _KEY_LINE.match(text, at)) and line.end() > at:
        end = line.end()
        at = end
    return end


def _end_of(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise


_ALLOWED = re.compile(r"pragma: ?(?:allow|white)list[ -]secret")
_NEXT_ALLOWED = re.compile(r"pragma: ?allowlist[ -]nextline[ -]secret")


def _allowed(text: str, at: int) -> bool:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    before = text.rfind("\n", 0, max(0, start - 1)) + 1
    line = text[start : len(text) if end < 0 else end]
    return bool(_ALLOWED.search(line) or _NEXT_ALLOWED.search(text[before:start]))


def _compiled(name: str, pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise BadSecretPattern(
            f"the secret pattern {name!r} is no regular expression: {error}", hint="Write it as Python's `re` reads it."
        ) from None
    if compiled.search(""):
        raise BadSecretPattern(f"the secret pattern {name!r} matches an empty text", hint="Let it ask for something.")
    return compiled
