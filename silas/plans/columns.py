"""The columns of `work_items`: one a field of a work item, and the bytes that were approved."""

PLAIN = (
    "id",
    "type",
    "title",
    "parent",
    "spawned_by",
    "follow_up_of",
    "domain",
    "agent",
    "body",
    "interaction_mode",
    "schedule",
    "on_failure",
    "on_stuck",
    "failure_context",
    "cycle",
    "workspace",
    "worker",
    "status",
    "created_at",
)
"""Fields that are text as they are."""

JSON = (
    "budget",
    "needs_approval",
    "approval_token",
    "input_artifacts_from",
    "verify",
    "gates",
    "skills",
    "access_levels",
    "escalation",
    "tasks",
    "depends_on",
    "standing",
    "writes",
    "read",
    "network",
    "tools",
    "credential_refs",
    "attempts",
    "budget_used",
    "verification_results",
)
"""Every other field, as JSON in its column."""

ITEMS = frozenset({"children"})
"""Fields that are items with rows of their own."""

LOADED = (*PLAIN, *JSON, "plan_bytes", "plan_hash")
"""What is read to have an item back."""
