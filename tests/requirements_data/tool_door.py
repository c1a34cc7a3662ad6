"""Decision table C and the three smaller documents: tool runtime, plugins, worker policy."""
# ruff: noqa: E501

from tests.requirements_data import excuses as e
from tests.requirements_data.model import Requirement as R

_TR, _TP, _WP = "tool-runtime", "toolset-plugins", "worker-approval-policy"

REQUIREMENTS: tuple[R, ...] = (
    R("C-MATRIX", "C", "All twenty cells of the matrix decide as the table says."),
    R("C-DEFAULT-A2", "C", "The default autonomy level is A2."),
    R("C-UNKNOWN-PAIR-BLOCKS", "C", "An unknown pair in the matrix is HARD_BLOCK."),
    R("C-RISK-BY-ACTION", "C", "Risk is the action's own, else the tool's default."),
    R("C-ADJUSTERS", "C", "Each adjuster adds one step: broadcast, destructive, blast radius, quiet hours, shell."),
    R("C-ADJUSTERS-ONLY-RAISE", "C", "Adjusters never lower a risk and stop at critical."),
    R("C-SECRETS-CONFIRM", "C", "A secrets scope is at least CONFIRM."),
    R("C-QUIET-CONFIRM", "C", "In quiet hours medium risk or more is at least CONFIRM."),
    R("C-ANTIFLAP", "C", "The same tool, action and target within the cooldown is blocked."),
    R("C-STORM", "C", "Outbound notifications over the hourly limit are blocked."),
    R("C-OVERRIDES-ONLY-STRICTER", "C", "No override makes a decision more lenient."),
    R("C-PLAN-TOKEN-COVERS", "C", "CONFIRM is satisfied by the plan's token for a call inside what the plan authorises."),
    R("C-ONE-CALL-TOKEN", "C", "Any other call needs a token for exactly its validated arguments."),
    R("C-POWER-ORDER", "C", "Toolset block, gate block, worker policy, run policy, pre-approval: the strictest wins in this order."),
    R("C-RUN-POLICY-MODES", "C", "The run policy is prompt, approve_all or reject_all; prompt is the default."),
    R("C-HEADLESS-DENIES", "C", "prompt with nobody to ask denies."),
    R("C-KEY-COVERS", "C", "An idempotency key covers task, step, action and canonical arguments."),
    R("C-REPEAT-DEDUPED", "C", "A repeated call returns the recorded outcome as tool_call.deduped and runs nothing."),
    R("C-KEY-REUSE-IS-ERROR", "C", "A key reused for other arguments is DuplicateKey."),
    R("C-UNKNOWN-IS-NOT-SUCCESS", "C", "An unknown outcome is never success; losing the transport is unknown."),
    R("C-HEALTH-MOVES", "C", "Consecutive failures and a rate limit's reset time move a tool's health."),
    R("C-UNAVAILABLE", "C", "An unavailable tool fails fast and is not offered to the model."),
    R("C-ERRORS", "C", "Each reason to stop a call raises its own error."),
    R("C-EVENTS", "C", "Each outcome writes its own audit event, before the error is raised."),
    R("C-DIGEST-NOT-PAYLOAD", "C", "A tool event carries the digest of the payload, never the payload."),
    # tool-runtime
    R("TR-ONE-DOOR", _TR, "No code calls a tool except through the tool executor."),
    R("TR-REGISTRY", _TR, "The registry gives a tool by name, lists the healthy ones, and takes health updates."),
    R("TR-STEP-ORDER", _TR, "A call takes its ten steps in order; the first that fails ends it."),
    R("TR-AUDIT-BEFORE-RAISE", _TR, "Every step that fails writes its audit event before it raises."),
    R("TR-SCOPES", _TR, "A call without every required scope is a ScopeViolation."),
    R("TR-SCOPES-NOT-RETRIED", _TR, "A scope violation is never retried."),
    R("TR-CONFIRM", _TR, "CONFIRM without a covering approval emits gate.required and raises ApprovalRequired."),
    R("TR-PREVIEW", _TR, "PREVIEW runs the tool's preview, never the tool, and raises PreviewRequired."),
    R("TR-NO-PREVIEW", _TR, "A tool without a preview still runs nothing."),
    R("TR-FAILED", _TR, "A retryable error is tool_call.failed, success tool_call.succeeded, each with its outcome."),
    R("TR-UNKNOWN", _TR, "A transport failure writes an unknown outcome and tool_call.unknown."),
    R("TR-CONTEXT-IS-THE-CARRIER", _TR, "A tool reads cross-cutting facts from its context only, never from the system."),
    R("TR-SECRETS-INJECTED", _TR, "A tool's secrets store is injected and read inside execute only."),
    R("TR-NO-INLINE-CREDENTIALS", _TR, "A registered tool holds a reference to its configuration, no credential."),
    # toolset-plugins
    R("TP-BY-CLASS-PATH", _TP, "A worker names toolsets by class path, each with its configuration."),
    R("TP-CONFIG-AND-CONTEXT", _TP, "A toolset of the convention is made from config and context."),
    R("TP-NEEDS-APPROVAL-USED", _TP, "A toolset's needs_approval is asked before each of its calls."),
    R("TP-ARBITRARY-WRAPPED", _TP, "A toolset without it is wrapped with _approval_config, asking by default."),
    R("TP-ALREADY-WRAPPED", _TP, "An approval wrapper is used as it is."),
    R("TP-CONFIG-COPIED", _TP, "Loading a toolset does not change the configuration it was given."),
    R("TP-ALIASES", _TP, "Aliases, defaults and profiles name toolsets, from an allowlist."),
    R("TP-ENVIRONMENT", _TP, "A toolset's configuration may take values from the environment."),
    # worker-approval-policy
    R("WP-SHALLOW-WRAPPING", _WP, "Each worker wraps its own toolsets when its agent is made, never another's."),
    R("WP-NO-INHERITANCE", _WP, "A nested worker uses its own approval configuration and is still gated."),
    R("WP-BY-TOOL-NAME", _WP, "Delegation is checked by tool name in the caller's policy."),
    R("WP-CYCLES-BOUNDED", _WP, "Workers may call each other in cycles, up to the depth limit."),
    R("WP-NO-LEAK", _WP, "A run's approval policy does not leak into another run."),
    R("WP-BASE-UNCHANGED", _WP, "Shared toolsets are never mutated by a worker's policy."),
    R("WP-NO-PRE-WRAPPED", _WP, "Toolsets that come wrapped are not part of a worker's interface.", "policy: C - every toolset is wrapped when its agent is made and its calls end at the one tool door"),
    R("WP-ENTRY-UNGATED", _WP, "A tool that is itself the entry runs without an approval of its own.", "policy: C - every call ends at the one tool door; an entry is no way around it"),
    R("WP-BLOCKED-WINS", "C, worker-approval-policy", "A block beats pre-approval, always."),
)  # fmt: skip
