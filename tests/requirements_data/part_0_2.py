"""Sections 0 to 2: experience, security preservation, dependencies, connections as resources."""
# ruff: noqa: E501

from tests.requirements_data import excuses as e
from tests.requirements_data.model import Requirement as R

REQUIREMENTS: tuple[R, ...] = (
    # 0.5 principles
    R("S0.5-ONE-SCREEN", "0.5", "Every interaction fits one phone screen, or is split into cards that do."),
    R("S0.5-TAP-FIRST", "0.5", "A tap is the default gesture; more friction is kept for high-risk and irreversible actions."),
    R("S0.5-NO-MANDATORY-FREE-TEXT", "0.5", "No question needs free text to go on: every one offers options."),
    R("S0.5-CONVERSATIONAL-SETUP", "0.5", "Connections are built and kept through guided flows, not settings pages.", e.CONNECTIONS),
    R("S0.5-DOMAIN-POLICY", "0.5", "An operation across domains needs an explicit policy.", e.CONNECTIONS),
    R("S0.5-PROGRESSIVE-DISCLOSURE", "0.5", "New users see constrained controls first.", e.LOOKED_AT),
    R("S0.5-AUDIT-ALWAYS-CAPTURED", "0.5", "Everything Silas does is captured in the audit trail without being asked."),
    R("S0.5-AUDIT-PLAIN-LANGUAGE", "0.5", "The audit trail can be asked about in plain language."),
    R("S0.5-DEFAULT-AND-OFFER", "0.5", "Below the confirmation threshold Silas takes the best default and offers alternatives after.", e.EVALS),
    R("S0.5-SECRETS-OUT-OF-PIPELINE", "0.5", "Credentials and secrets never enter the agent pipeline."),
    R("S0.5-SECRETS-NOT-IN-MESSAGES", "0.5", "No secret crosses the WebSocket or a channel message."),
    R("S0.5-SECRETS-NOT-IN-RECORDS", "0.5", "No secret appears in audit, chronicle, memory or a context item."),
    R("S0.5-SECRETS-NOT-IN-DATABASE", "0.5", "A credential's value is never stored in the database."),
    R("S0.5-SECRETS-BY-REFERENCE", "0.5", "An agent names a secret by its opaque reference only."),
    R("S0.5-SECRETS-OUT-OF-BAND", "0.5", "A secret comes in on a path of its own, from a secure form into the key store."),
    R("S0.5-SECRETS-REDIRECTED", "0.5, 4.1.1", "A channel without a secure input sends the owner to the web form by a link.", e.TELEGRAM),
    # 0.5.1 to 0.5.3 surfaces, risk, cards
    R("S0.5.1-THREE-SURFACES", "0.5.1", "Stream, Review and Activity are persistent surfaces."),
    R("S0.5.1-ONE-ACTIVE-CARD", "0.5.1", "Review shows one actionable card; the rest is a numbered list of intent and risk."),
    R("S0.5.2-GESTURE-BY-RISK", "0.5.2", "A card's risk decides its gesture: tap, confirm, slide, local authentication."),
    R("S0.5.2-RISK-BY-HARNESS", "0.5.2", "Risk comes from scope and reversibility by rule; the agent does not set it."),
    R("S0.5.3-REQUIRED-FIELDS", "0.5.3", "Every card has an intent, a risk, a rationale and a consequence on each action."),
    R("S0.5.3-ACTION-ORDER", "0.5.3", "Actions are ordered: recommended first, declining or destructive last."),
    R("S0.5.3-MAX-HEIGHT", "0.5.3", "A card's body fits 300 px on a screen 375 px wide, or is split."),
    R("S0.5.3-DETAILS-BY-RISK", "0.5.3", "Details are collapsed for low and medium risk, open for high and irreversible."),
    R("S0.5.3-SETUP-CARDS", "0.5.3", "Setup cards carry the standard fields and those of their auth flow.", e.CONNECTIONS),
    R("S0.5.3-FAILURE-CARD-SKIP", "0.5.3", "A connection failure card always offers to skip.", e.CONNECTIONS),
    # 0.5.4 to 0.5.7 fatigue, undo, metrics, modes
    R("S0.5.4-ANOMALIES-UNCHECKED", "0.5.4", "In a batch, items that deviate from the pattern are flagged and unchecked."),
    R("S0.5.4-ATTENTION-CUES", "0.5.4", "Hasty decisions and a dense queue raise a visual cue that blocks nothing."),
    R("S0.5.4-NO-THROTTLING", "0.5.4", "The system never forces a cooldown, delay or pause on a decision."),
    R("S0.5.4-WIDENING-BY-CARD", "0.5.4", "A low correction rate leads to a review card, never to a silent change."),
    R("S0.5.5-UNDO-WINDOW", "0.5.5", "A reversible external action can be undone with one tap while its window is open."),
    R("S0.5.5-IRREVERSIBLE-SAID", "0.5.5", "An action that cannot be taken back is labelled irreversible and confirmed with friction."),
    R("S0.5.6-LOCAL-METRICS", "0.5.6", "UX metrics are in the audit log, can be asked for, and leave the machine never."),
    R("S0.5.7-CONFIRMATION-FORCED", "0.5.7", "Where risk or policy needs confirmation the mode is confirm_only_when_required, whatever the initiative."),
    R("S0.7-INVARIANTS-KEPT", "0.7", "Both milestones keep every security invariant.", e.NO_REGRESSION),
    R("S0.8-NOT-WEAKENED", "0.8", "Interoperability additions weaken no security or execution guarantee.", e.NO_REGRESSION),
    # 1 and 2
    R("S1-LAYOUT", "1", "The package has the layout that section 1 draws.", e.LAYOUT),
    R("S1.5-ONBOARDING", "1.5", "First run is phone-first cards: welcome, provider, identity, the Stream."),
    R("S1.6-PWA", "1.6", "The web frontend is installable and has the required views."),
    R("S2-PINS", "2", "Dependencies are pinned as section 2 lists them.", e.NEWER_PYDANTIC_AI),
    R("S2.5-SEPARATE-IDS", "2.5", "Service connections never reuse a channel's session identifiers.", e.CONNECTIONS),
    R("S2.5-SIGNED-ACTIONS", "2.5", "A permission tier changes friction only; a connection action needs a signed token.", e.CONNECTIONS),
    R("S2.5-LIFECYCLE-AS-WORK", "2.5", "Building or repairing a connection is planned, approved, executed and verified work.", e.CONNECTIONS),
)  # fmt: skip
