"""Encode and decode the words that stand in files, with the types as the schema."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath, path_text

T = TypeVar("T")


class BadData(QodebaseError):
    """A file that does not hold what its type says."""


def _encode(value: Any) -> Any:
    if isinstance(value, RepoPath):
        return path_text(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in a file")


def _decode(kind: type, value: Any) -> Any:
    if kind is RepoPath:
        if not isinstance(value, str):
            raise TypeError(f"Expected `str`, got `{type(value).__name__}`")
        return RepoPath.parse(value)
    raise NotImplementedError(f"{kind.__name__} has no form in a file")


NotDecoded = msgspec.DecodeError
"""Raised by decoders: the bytes are no value of the type."""

JSON = msgspec.json.Encoder(enc_hook=_encode)
"""Encodes to JSON; a `RepoPath` becomes readable text."""

PACK = msgspec.msgpack.Encoder(enc_hook=_encode)
"""Encodes to MessagePack, for content: bytes stay bytes."""


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder of JSON for a type or a union of types; it raises `msgspec.ValidationError`."""
    return msgspec.json.Decoder(kind, dec_hook=_decode)


def pack_decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    """Return a decoder of MessagePack for a type or a union of types."""
    return msgspec.msgpack.Decoder(kind, dec_hook=_decode)


def convert(value: Any, kind: type[T], *, source: str) -> T:
    """Turn plain values (of a TOML file, say) into ``kind``.

    Args:
        value: dicts, lists and scalars.
        kind: the type that says what is allowed.
        source: the file, for the error.

    Raises:
        BadData: a key, type or value is not allowed; the message names the file and the field.
    """
    try:
        return msgspec.convert(value, kind, dec_hook=_decode, strict=True)
    except msgspec.ValidationError as error:
        raise BadData(f"{source}: {error}") from None
