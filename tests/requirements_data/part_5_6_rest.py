"""Sections 5.7 to 6: context, keys, calibration, connections, approval engine, taint, memory."""
# ruff: noqa: E501

from tests.requirements_data import excuses as e
from tests.requirements_data.model import Requirement as R

REQUIREMENTS: tuple[R, ...] = (
    # 5.7 context
    R("S5.7-SYSTEM-PINNED", "5.7", "The system zone keeps to its cap and is never evicted."),
    R("S5.7-PINNED-KEPT", "5.7", "A pinned item is never evicted."),
    R("S5.7-MASKING", "5.7", "Old tool results become placeholders, not summaries."),
    R("S5.7-HEURISTICS-FIRST", "5.7", "Heuristics run first; the scorer only where they were not enough."),
    R("S5.7-SCORER-BOUNDED", "5.7", "The scorer has a 2 second limit and a breaker, and deterministic eviction behind it."),
    R("S5.7-SCORER-STRUCTURED", "5.7", "The scorer answers with structured output through the wrapper."),
    R("S5.7-NOTHING-LOST", "5.7", "What is evicted is remembered first, with taint, scrubbed where external."),
    # 5.8 keys
    R("S5.8-KEYPAIR", "5.8", "A generated key signs, its public half is given out in hex and verifies."),
    R("S5.8-PRIVATE-IN-KEY-STORE", "5.8", "The private key is kept in the operating system's key store where there is one."),
    R("S5.8-KEY-NEVER-SHOWN", "5.8", "The private key appears in no context, log, configuration or environment."),
    R("S5.8-WRONG-SIGNATURE", "5.8", "A signature by another key or over other bytes does not verify."),
    # 5.9 calibration
    R("S5.9-AFTER-POLICY", "5.9", "Confidence comes after policy gates and approval and bypasses neither."),
    R("S5.9-PERSISTENT-NEEDS-APPROVAL", "5.9", "Feedback changes policy for good only by an approved threshold change."),
    # 5.10 connections
    R("S5.10.1-NDJSON", "5.10.1", "Setup scripts speak one JSON object a line; stderr is never protocol.", e.CONNECTIONS),
    R("S5.10.1-CANCEL-CLEANS", "5.10.1", "Cancelling a setup removes partial credentials, servers and polling.", e.CONNECTIONS),
    R("S5.10.1-SECRET-ENDPOINT", "5.10.1", "The secret endpoint stores, answers only that it did, and audits the reference only."),
    R("S5.10.1-PENDING-ONLY", "5.10.1", "The secret endpoint refuses a reference that nobody is waiting for."),
    R("S5.10.2-INCREMENTAL", "5.10.2", "A connection starts with minimal permissions; more need a card and a token.", e.CONNECTIONS),
    R("S5.10.2-JUST-ONCE", "5.10.2", "Just this once grants one execution and changes no record.", e.CONNECTIONS),
    R("S5.10.3-REFRESH", "5.10.3", "Tokens are refreshed ahead of expiry without the owner.", e.CONNECTIONS),
    R("S5.10.4-NO-SILENT-LOOP", "5.10.4", "A failing connection is recovered at most once, then shown to the owner.", e.CONNECTIONS),
    # 5.11 approval engine
    R("S5.11-STRENGTH-MINIMUM", "5.11", "A token's strength is at least its scope's minimum."),
    R("S5.11-VERIFY-SIGNATURE", "5.11", "verify refuses a token whose signature does not hold."),
    R("S5.11-VERIFY-HASH", "5.11", "verify refuses any item but the approved one."),
    R("S5.11-VERIFY-EXPIRY", "5.11", "verify refuses an expired token."),
    R("S5.11-VERIFY-USES", "5.11", "verify refuses a token whose executions are spent."),
    R("S5.11-STANDING-NEEDS-SPAWNED", "5.11", "verify refuses a standing token without a spawned task."),
    R("S5.11-STANDING-PARENT", "4.4, 5.11", "verify refuses a spawned task of another parent."),
    R("S5.11-STANDING-POLICY", "4.4, 5.11", "verify refuses a spawned task outside the spawn policy."),
    R("S5.11-CHECK-HOLDS", "4.4, 5.11", "check refuses a broken signature, another item, an expired or an unspent token."),
    R("S5.11-CHECK-STANDING", "5.11", "check of a standing token holds for the task it was spent on and its policy."),
    R("S5.11-ONLY-VERIFY-SPENDS", "4.4, 5.11", "verify is the only operation that spends; check consumes nothing."),
    R("S5.11-BARE-NONCE", "5.11", "Replay is looked up under the bare execution nonce.", e.CONTENT_BOUND),
    # 5.12 taint, 5.13 tokens
    R("S5.12-TOOLS-EXTERNAL", "3.7, 5.12", "Tool output is external unless its provenance is trusted and without network."),
    R("S5.12-SEARCH-EXTERNAL", "5.12", "web_search output is always external."),
    R("S5.12-SCRUBBED", "5.12", "External results are scrubbed before context or memory."),
    R("S5.12-MEMORY-INHERITS", "5.12", "A memory has the taint of what made it, lowered by anything external."),
    R("S5.12-CONSTITUTION-PROTECTED", "5.12", "External input cannot make or change a constitutional memory."),
    R("S5.12-NO-SILENT-TRUST", "5.12", "External content becomes verified only by explicit trusted confirmation."),
    R("S5.13-COUNTER", "5.13", "Tokens are counted as characters divided by 3.5.", e.COUNTER),
    # 5.14, 5.15 persona
    R("S5.14-BOUNDED-DELTAS", "5.14", "Mood moves by bounded steps and decays towards neutral."),
    R("S5.14-UNTRUSTED-LIMITED", "5.14", "Untrusted feedback moves passing mood only, rate-limited."),
    R("S5.14-FAILS-TO-NEUTRAL", "5.14", "A failing personality leaves a neutral style and never stops a turn."),
    R("S5.15-EVENTS-APPEND-ONLY", "5.15", "Persona events are never changed or deleted."),
    # 6 storage and memory
    R("S6.1-WAL", "6.1", "The database runs in WAL mode with a busy timeout of five seconds."),
    R("S6.1-MIGRATIONS-RECORDED", "6.1", "Applied migrations are recorded with id, checksum and time."),
    R("S6.1-DRIFT-REFUSED", "6.1", "A changed or missing applied migration stops the start; nothing is repaired silently."),
    R("S6.1-NUMBERED", "6.1", "Migrations are numbered, strictly increasing, and applied in order."),
    R("S6.1-IDEMPOTENT", "6.1", "Running migrations again changes nothing."),
    R("S6.1-BEFORE-START", "6.1", "All pending migrations run before the Stream; a failing one aborts the start."),
    R("S6.1-FTS", "6.1", "Memory has keyword search with the specified tokenizer."),
    R("S6.1-SQLITE-VEC", "6.1", "Vector search uses sqlite-vec.", e.NO_SQLITE_VEC),
    R("S6.4-CONSOLIDATION", "6.4", "Consolidation merges, prunes, re-embeds, and promotes only with the owner."),
    R("S6.5-BUNDLE", "4.2.3, 6.5", "A bundle is versioned JSON lines; import merges or replaces in one transaction."),
    R("S6.5-LABELS-KEPT", "6.5", "Import keeps taint, trust and lane."),
    R("S6.6-POLICY-FIRST", "6.6", "Constitution and security policy come before behaviour preferences."),
)  # fmt: skip
