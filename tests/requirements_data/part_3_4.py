"""Sections 3.8 to 4: memory, persona, batches and connections as data; the ports."""
# ruff: noqa: E501

from tests.requirements_data import excuses as e
from tests.requirements_data.model import Requirement as R

REQUIREMENTS: tuple[R, ...] = (
    # 3.8 memory, 3.10 persona
    R("S3.8-VERIFIED-NEEDS-OWNER", "3.8", "A verified memory changes only by the owner's action."),
    R("S3.8-PREFERENCES-START-WORKING", "3.8", "An inferred preference begins as working and is tagged behavior:."),
    R("S3.8-PREFERENCES-CONFIRMED", "3.8", "A preference becomes verified only by the owner's confirmation on a card."),
    R("S3.8-PREFERENCES-CONSUMED", "3.8", "Planner and proxy take verified preferences as default hints."),
    R("S3.10-NO-RAW-AXES", "3.10", "The model never receives axis numbers, only rendered directives."),
    R("S3.10-COMPOSITION", "3.10", "Effective axes are the clamped sum of baseline, context, mood and override."),
    R("S3.10-CONSTITUTION-IMMUTABLE", "3.10", "The personality layer cannot change the constitution."),
    # 3.11 batches and autonomy, 3.12 connections
    R("S3.11-EDIT-NEEDS-SELECTION", "3.11", "An edited batch names the items it keeps."),
    R("S3.11-BATCH-BINDING", "3.11, 5.2.4", "A batch token binds the canonical action, ordered item ids and count; any change asks again."),
    R("S3.11-BATCH-ID-NOT-AUTHORITY", "3.11", "A batch's id is never the authorisation hash."),
    R("S3.11-AUTONOMY-BINDING", "3.11", "A threshold token binds the ordered changes and their evidence."),
    R("S3.12-FAILURE-STRUCTURED", "3.12", "A failing connection script returns a structured failure, not a bare exception.", e.CONNECTIONS),
    # 4.0, 4.1 ports and channels
    R("S4-PORTS", "4", "Every component stands behind a protocol and is swapped by injection.", e.LAYOUT),
    R("S4.1-LISTEN", "4.1", "A channel yields each message with the identifier of its connection."),
    R("S4.1-SEND", "4.1", "A channel sends text to a recipient."),
    R("S4.1.1-CLI-CORE-ONLY", "4.1.1", "The terminal channel implements the core protocol only.", e.CARD_CLASSES),
    R("S4.1.1-TEXT-FALLBACK", "4.1.1, 8.4", "Without rich cards a prompt goes out as plain text and the reply is parsed."),
    R("S4.1.1-SILENCE-DECLINES", "4.1.1", "A reply that does not come or cannot be read declines or blocks."),
    R("S4.1.1-SECURE-ANSWER-EMPTY", "3.12, 4.1.1", "The answer to a secure input card holds a reference and success, nothing derived from the secret."),
    R("S4.1.1-ESCALATION-RISK", "4.1.1", "A permission escalation's risk is set by rule: medium on the same resource, else high.", e.CONNECTIONS),
    R("S4.1.1-CHANNELS-NEVER-SIGN", "4.1.1", "Channels collect decisions; the approval engine alone mints and signs."),
    # 4.2, 4.3 memory and context
    R("S4.2-STORE", "4.2", "The memory store keeps, finds, changes and deletes items, raw lane apart."),
    R("S4.3-RENDER-ORDER", "4.3", "Zones render as system, chronicle, memory, workspace."),
    # 4.4, 4.5 approval and nonces
    R("S4.4-ISSUED-UNUSED", "4.4", "A new token is signed, bound to its subject's hash, and has no uses."),
    R("S4.4-ONE-PATH", "4.4", "Approvals that are not plans take the same hash and signature path."),
    R("S4.5-DOMAINS-APART", "4.5", "The same nonce in two domains does not collide."),
    R("S4.5-RETENTION", "4.5", "Nonce records say when, and are pruned only after token lifetime plus buffer."),
    R("S4.5-PRUNED-ON-SCHEDULE", "4.5", "Expired nonce records are pruned on a schedule."),
    # 4.7 to 4.16 execution, gates, work, audit
    R("S4.7-DESTROYED", "4.7", "A sandbox instance leaves no process and no file behind."),
    R("S4.9-THREE-RESULTS", "4.9", "The gate runner returns policy results, quality results and the merged context."),
    R("S4.13-DURABLE", "4.13", "A work item's state survives the process."),
    R("S4.13-STATUS-ATOMIC", "4.13", "Status and budget used change together or not at all."),
    R("S4.13-LISTS", "4.13", "Work items are found by status and by parent."),
    R("S4.14-CHRONICLE-DURABLE", "4.14", "Conversation history is kept per scope, in order, across restarts."),
    R("S4.14-CHRONICLE-RETENTION", "4.14", "Chronicle entries are pruned after the configured retention."),
    R("S4.15-PURE-PARSING", "4.15", "The plan parser takes text and returns a work item; it touches no file."),
    R("S4.16-CHECKPOINT", "4.16", "A checkpoint keeps the hash of the chain's head."),
    R("S4.16-VERIFY-FROM-CHECKPOINT", "4.16", "Verification can start at the latest or a named checkpoint."),
    # 4.17 to 4.23 rooms to come
    R("S4.17-DIRECTIVE-SIZE", "4.17", "Persona directives are prose of 200 to 400 tokens."),
    R("S4.18-PERSONA-STORE", "4.18", "Persona state and its append-only events are kept per scope."),
    R("S4.19-NO-SECRETS-HELD", "4.19", "The connection manager holds no secret beyond a script's run.", e.CONNECTIONS),
    R("S4.20-SCRIPT-WITHIN-SKILL", "4.20", "A script path resolves only inside its skill's directory."),
    R("S4.21-SCOPED-RESOLUTION", "4.21", "Skills are resolved for a work item, inherited where it lists none."),
    R("S4.22-SUGGESTION-OUTCOMES", "4.22", "What became of a suggestion is recorded and starts its cooldown."),
    R("S4.23-APPLIED-ATOMICALLY", "4.23", "Approved threshold changes apply all at once, with audit records."),
    # 4.24 the wrapper chain
    R("S4.24-CHAIN-ORDER", "4.24", "The toolset chain is skill, prepared, filtered, approval-required, in this order."),
    R("S4.24-FILTERED-FIRST", "4.24", "A tool that is filtered out is never shown to the model."),
    R("S4.24-DEFERRED-RESUMES", "4.24", "A call that needs approval pauses, is decided by Stream and engine, and resumes."),
    R("S4.24-OUTER-NO-BYPASS", "4.24", "An outer wrapper cannot bypass an inner one."),
    R("S4.24-RUN-TIME-TOOLSETS", "4.24", "Toolsets of a turn or work item are passed at run time, not built into an agent."),
    R("S4.24-V1-INTERFACES", "4.24", "The chain uses PydanticAI 1.x interfaces only.", e.NEWER_PYDANTIC_AI),
)  # fmt: skip
