"""What the context refuses."""

from silas.errors import SilasError


class ContextError(SilasError):
    """A profile that is not there, or a subscription that cannot be followed."""

    family = "E_CTX"
