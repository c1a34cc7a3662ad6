"""Why a requirement has no test yet; each names what it waits for or what replaces it.

`later:` a room that a later capability brings; `policy:` a decision that replaces the text;
`process:` a statement about development, documents or people.
"""

# rooms to come
WEB = "later: channels/web and the cockpit; there is no browser surface without it"
TELEGRAM = "later: channels/telegram.py; only the terminal channel is there"
CONTEXT = "later: the context room (zones, eviction, rendering); the turn calls a named null object"
MEMORY = "later: the memory room (store, retrieval, bundles); the turn calls a named null object"
PERSONA = "later: the persona room; the turn calls a named null object"
SKILLS = "later: running the scripts of skills"
CONNECTIONS = "later: the connections room (setup, health, refresh, recovery)"
AUTONOMY = "later: the autonomy room (suggestions, calibration, behaviour preferences)"
GOALS = "later: work/goal.py and schedule.py; only tasks execute without them"
PROJECTS = "later: work/project.py; only tasks execute without it"
BATCH = "later: work/batch.py and its review card flow"
ESCALATIONS = (
    "later: the hand-over, queue and retry actions of stream/escalate.py; reported till then"
)
PROVIDERS = (
    "later: gates/judge.py, gates/guardrails.py and gates/script.py; without them a gate blocks"
)
CONFORMANCE = "later: sandbox/conformance/suite.py, the full suite of attacks on every backend"
SHUTDOWN = "later: the long-running server (silas start) and its signal handling"
OPERATIONS = "later: metrics, alerts, rate limits and backpressure of the long-running server"
EVALS = "later: a language model measured by make evals; what it does is never asserted"
SELF_UPDATE = "later: the self-update action and its card; Silas cannot change itself without it"

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
CARD_CLASSES = (
    "policy: the architecture's cards - one ask() and card classes replace send_* methods"
)

# about development
NO_REGRESSION = "process: a rule about amendments; each guarantee it keeps has entries of its own"
LINTED = "process: ruff's banned-api list in `make check` refuses it before any test runs"
TESTING = "process: says which tests exist; the manifest itself is its enforcement"
DOCUMENTED = "process: a page for operators or contributors, checked by reading it"
MEASURED = "process: a matter of speed, shown by `make bench` as a ratio and never asserted"
