"""Sandbox errors with the sentence that says what to install."""

from silas.errors import SandboxError


class SandboxUnavailable(SandboxError):
    """A part of the isolation is missing; Silas refuses rather than run unprotected."""

    def __init__(self, message: str, *, code: str = "E_SANDBOX_UNAVAILABLE") -> None:
        super().__init__(message, code=code)
