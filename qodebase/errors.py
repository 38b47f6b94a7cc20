"""The one error root; its leaves stand beside the code that raises them."""

from __future__ import annotations


class QodebaseError(Exception):
    """Report a failure that a person can act on.

    Args:
        message: what went wrong, in one sentence without a full stop at the end of a name.
        hint: what to do next; printed below the message.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message
