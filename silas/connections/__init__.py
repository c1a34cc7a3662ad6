"""Links to other services. What must not go in: secrets, which only `silas.keys` holds."""

from silas.connections.models import BatchReviewConfig, ConnectionsConfig

__all__ = ["BatchReviewConfig", "ConnectionsConfig"]
