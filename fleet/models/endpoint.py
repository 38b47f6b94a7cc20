"""Where a provider is and how it is reached: its address, what authorises a call, which certificates to trust."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fleet.models.registry import BadModel, ModelContext, ModelSpec, ModelTable

if TYPE_CHECKING:
    import ssl


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def is_loopback(url: str) -> bool:
    """Return whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())


def checked_base(table: ModelTable, name: str) -> str:
    """Return a table's address, or the empty text.

    Raises:
        BadModel: it is no address, or holds a password.
    """
    try:
        parts = urlsplit(table.api_base)
        _ = parts.port
        _ = (parts.hostname or "").encode("idna")
    except ValueError:
        raise BadModel(f"`api_base` of the model {name} is no address") from None
    if table.api_base and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise BadModel(f"`api_base` of the model {name} must begin with https:// or http://")
    if parts.username or parts.password or parts.query:
        raise BadModel(
            f"`api_base` of the model {name} must hold no user, password or query",
            hint="Put secrets into the environment and name them with `api_key_env` or `headers_env`.",
        )
    return table.api_base


def secret_headers(spec: ModelSpec, context: ModelContext, *, key_variable: str) -> dict[str, str]:
    """Return the headers that authorise a call: the key, and the table's ``headers_env``.

    Raises:
        MissingKey: a variable is not set.
        BadModel: a header's name is none.
    """
    of = f"the model {spec.name}"
    for name in spec.table.headers_env:
        if not _HEADER.fullmatch(name):
            raise BadModel(
                f"`headers_env` of {of} names {name!r}, which no header can be called",
                hint="Write letters, digits and dashes: X-Team, say.",
            )
    headers = {name: context.secret(variable, of=of) for name, variable in spec.table.headers_env.items()}
    if key_variable and "authorization" not in {name.lower() for name in headers}:
        headers["Authorization"] = f"Bearer {context.secret(key_variable, of=of)}"
    return headers


def trust(ca_file: str, name: str) -> ssl.SSLContext | None:
    """Return how to trust an endpoint, None for the system's way.

    Raises:
        BadModel: the file holds no certificates.
    """
    if not ca_file:
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=str(Path(ca_file).expanduser()))
    except (OSError, ValueError) as error:
        raise BadModel(f"`ca_file` of the model {name}: {ca_file}: {error}") from None


def proxy_for(url: str, environ: Mapping[str, str]) -> str:
    """Return the proxy that the environment names for an address (``https_proxy``, ``no_proxy``), or the empty text.

    Raises:
        BadModel: it is none that can be asked.
    """

    def named(variable: str) -> str:
        return environ.get(variable) or environ.get(variable.upper()) or ""

    parts = urlsplit(url)
    host = parts.hostname or ""
    direct = [entry.strip().lstrip(".") for entry in named("no_proxy").split(",")]
    if is_loopback(url) or "*" in direct or any(entry and f".{host}".endswith(f".{entry}") for entry in direct):
        return ""
    found = named(f"{parts.scheme}_proxy").strip()
    if found and "://" not in found:
        # Programs take a bare address for that of an HTTP proxy.
        found = f"http://{found}"
    try:
        usable = urlsplit(found).scheme in ("", "http", "https") and bool(urlsplit(found).hostname or not found)
    except ValueError:
        usable = False
    if not usable:
        raise BadModel(
            f"the proxy in `{parts.scheme}_proxy`, on the way to {host}, is no HTTP proxy",
            hint="Set http://HOST:PORT there, or name the model's host in `no_proxy`.",
        )
    return found
