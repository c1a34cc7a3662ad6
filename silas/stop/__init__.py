"""The emergency stop: its file, its epochs, who notices it, and what it kills (decision B10).

What must not go in: anything that the stop would then depend on, such as a model, a queue, the
configuration or a healthy event loop. `sentinel`, `runs` and `watch` import nothing but the
standard library and `silas.errors`: `silas stop --now` must not wait for imports.
"""

from silas.stop.runs import RunRegister, end_runs
from silas.stop.sentinel import RequireRunning, Sentinel

__all__ = ["RequireRunning", "RunRegister", "Sentinel", "end_runs"]
