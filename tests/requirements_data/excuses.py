"""Why a requirement has no test; each names what it waits for or what replaces it.

`later:` what is not there yet, with the file that will bring it in backquotes: once that file
exists, a test refuses the excuse; `policy:` a decision that replaces the text; `process:` a
statement about development, documents or people.
"""

# to come
TELEGRAM = "later: `silas/channels/telegram/`; no channel of a service of others is there"
SKILLS = "later: `silas/skills/scripts.py`, which runs the scripts of skills"
CONNECTIONS = "later: `silas/connections/manager.py` (setup, health, refresh, recovery)"
GOALS = "later: `silas/stream/active_goal.py`; a goal configures no conversation without it"
PROVIDERS = (
    "later: `silas/gates/judge.py`, `silas/gates/guardrails.py` and `silas/gates/script.py`; "
    "without them a gate blocks"
)
METRICS = "later: `silas/services/metrics.py`; what happened is in the record alone"
ANSWERS_A_MINUTE = (
    "later: `silas/stream/rate_limits.py`; answers to cards count as messages of their browser and "
    "have no limit of their own"
)
SELF_UPDATE = "later: `silas/work/self_update.py`; Silas cannot change itself without it"

# replaced by a decision
LAYOUT = "policy: A1 - rooms and floors replace the layout; ports stand where two objects exist"
NEWER_PYDANTIC_AI = "policy: A2 - PydanticAI 2.x replaces the pinned 1.x and its interfaces"
CONTENT_BOUND = "policy: A7 - the content-bound nonce key of 3.6 replaces the bare nonce"
NO_SQLITE_VEC = "policy: A16 - an exact NumPy index behind a port replaces sqlite-vec"
NO_STEP_REWRITES = (
    "policy: 3.4's mutation allowlist has no step output; a step gate that would rewrite it blocks"
)
GUEST = "policy: A18 - guardrails-ai runs apart, on request; `silas init` installs no validators"
BUBBLEWRAP = "policy: A20 - bubblewrap replaces the bare subprocess; nothing runs unprotected"
COUNTER = "policy: A22 - the larger of the heuristic and an estimate by byte class replaces it"
CONSTRUCTORS = (
    "policy: house rules 3 and 4 - required constructor arguments replace order and setters"
)
ONE_OWNER = (
    "policy: B7 - paired browsers are the owner's and share his conversation; others are apart"
)
FIRST_RUN = "policy: D144 - the cockpit's own first run does this on a page, not `silas init`"
CARD_CLASSES = (
    "policy: the architecture's cards - one ask() and card classes replace send_* methods"
)

# about development
NO_REGRESSION = "process: a rule about amendments; each guarantee it keeps has entries of its own"
LINTED = "process: ruff's banned-api list in `make check` refuses it before any test runs"
TESTING = "process: says which tests exist; the manifest itself is its enforcement"
DOCUMENTED = "process: a page for operators or contributors, checked by reading it"
MEASURED = "process: a matter of speed, shown by `make bench` as a ratio and never asserted"
EVALS = "process: measured by `make evals`; what a language model does is never asserted"
LOOKED_AT = "process: a matter of how pages look, judged on the pictures of `make screenshots`"
