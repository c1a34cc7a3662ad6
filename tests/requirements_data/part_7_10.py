"""Sections 7 to 10: agents, channels, execution, skills."""
# ruff: noqa: E501

from tests.requirements_data import excuses as e
from tests.requirements_data.model import Requirement as R

REQUIREMENTS: tuple[R, ...] = (
    # 7 agents
    R("S7-TOOLS-ARE-NOT-SKILLS", "7", "Tools are cognition primitives, skills are domain capabilities; web_search is a tool.", e.SKILLS),
    R("S7.1-CANNOT-EXECUTE", "7.1", "The proxy is offered no tool that executes or changes anything."),
    R("S7.1-DEEPENING", "7.1", "The proxy recognises deepening and names the prior item.", e.EVALS),
    R("S7.2-DEFAULT-DIRECTIVE", "7.2", "The planner chooses the best default and asks only where it matters or must.", e.EVALS),
    R("S7.2-CONTINUATION", "7.2", "The planner names the prior item in a deepening plan.", e.EVALS),
    R("S7.2-PLAN-FORMAT", "7.2", "A plan in the specified format parses to its work item, defaults filled in."),
    R("S7.2-SKILL-INHERITANCE", "7.2", "A plan without skills inherits its parent's, or has none."),
    R("S7.3-BODY-IS-BRIEFING", "7.3", "The executor's instructions are the work item's body."),
    R("S7.3-NO-METRICS-FROM-MODEL", "7.3", "No runtime metric is asked of the model."),
    R("S7.4-TEST-MODEL", "7.4", "Agents are tested without a model provider.", e.TESTING),
    # 8 channels
    R("S8.1-LOOPBACK", "8.1", "The web channel binds to loopback; remote needs an explicit host and a token."),
    R("S8.1-NO-URL-TOKEN", "8.1", "WebSocket authentication is never in the URL and has five seconds."),
    R("S8.1-ISOLATED-CONNECTIONS", "8.1", "Each web connection has its own scope, access and pending answers.", e.ONE_OWNER),
    R("S8.1-SELECTION-RULE", "8.1", "A batch response names items exactly when it edits the selection."),
    R("S8.1-DISCONNECT-DECLINES", "8.1", "A card on a closed connection declines or blocks at once."),
    R("S8.1-TIMEOUT-DECLINES", "8.1", "A card that is not answered in time declines or blocks, and that is audited."),
    R("S8.1-CARD-TIMEOUTS", "8.1", "A plan card waits 300 seconds, a gate card 120, unless configured otherwise."),
    R("S8.1-CARDS-END-SAFELY", "4.1.1, 8.1", "Every card's safe answer declines, blocks or dismisses."),
    R("S8.1-HEALTH", "8.1", "The health endpoint answers with the number of connections."),
    R("S8.1-SECRET-HTTPS", "8.1", "Secrets are posted over HTTPS, never the WebSocket, and kept nowhere but the key store."),
    R("S8.1-PERSONA-TRUST", "8.1", "Only trusted callers may change the persona's baseline."),
    R("S8.2-CARD-CONTRACT", "8.2", "All required cards follow the card contract on phone and desktop."),
    R("S8.2-CHAT-APART", "8.2", "Chat messages never appear in the review queue."),
    R("S8.3-TELEGRAM", "8.3", "The Telegram channel uses the core protocol with text prompts.", e.TELEGRAM),
    # 9 execution
    R("S9.1-ARGUMENT-LISTS", "9.1", "A command is a list of arguments, never a string for a shell."),
    R("S9.1-EXPLICIT-ENVIRONMENT", "9.1", "Only configured variables and the minimal ones are in the environment."),
    R("S9.1-FRESH-WORKSPACE", "3.7, 9.1, 9.3", "Each execution is fresh and receives its inputs only: no history, memory, context, token or key."),
    R("S9.1-CAPS", "3.7, 9.1", "Time and output limits are enforced from outside, always."),
    R("S9.1-RESOURCE-LIMITS", "9.1", "Memory, CPU, process count and file size are limited."),
    R("S9.1-NETWORK-OFF", "9.1", "Without permission the operating system refuses every network connection."),
    R("S9.1-BARE-SUBPROCESS", "9.1", "The default backend is a bare subprocess with best-effort limits.", e.BUBBLEWRAP),
    R("S9.1-DOCKER", "9.1", "The Docker backend is a drop-in behind the same interface."),
    R("S9.2-CORE-TOOLS", "7.3, 9.2", "The executor works through shell_exec and python_exec, which run in the sandbox and nowhere else."),
    R("S9.2-SEARCH-ABSENT", "2, 9.2, 11", "Without valid search configuration web_search is not among the tools."),
    R("S9.2-SEARCH-LIMITS", "9.2", "web_search keeps its limits of query, results, time and domains."),
    R("S9.2-SKILL-SCRIPTS", "9.2", "A skill's script runs through python_exec.", e.SKILLS),
    # 10 skills
    R("S10.1-FRONT-MATTER", "10.1", "A skill has a name equal to its directory and a description of when to use it."),
    R("S10.1-SCRIPT-ARGUMENTS", "10.1", "Script arguments are validated against the declared schema before they run.", e.SKILLS),
    R("S10.4-VALIDATED", "10.4", "Installation validates deterministically, needs a skill_install token and a dry run.", e.SKILLS),
    R("S10.4.1-IMPORT", "0.8, 10.4.1", "An imported skill is normalised with a report, hash-bound, and never active without approval."),
    R("S10.4.1-ADAPTED-SCRIPTS-CONFINED", "10.4.1", "A wrapped or rewritten script keeps sandbox and taint constraints.", e.SKILLS),
    R("S10.4.1-NO-CREDENTIALS", "10.4.1", "Credentials are never imported."),
    R("S10.5-STATELESS-SCRIPTS", "10.5", "Skill scripts are stateless and see no context, memory, key or history.", e.SKILLS),
    R("S10.5-DECLARED", "10.5", "Skill scripts declare dependencies, report errors and hold no credential.", e.SKILLS),
    R("S10.5-HEALTH-SCRIPT", "10.5", "A connection skill has a health check script.", e.CONNECTIONS),
    R("S10.6-PROTOCOL", "10.6", "Connection scripts keep the line protocol exactly and print no credential.", e.CONNECTIONS),
    R("S10.7-CROSS-DOMAIN", "10.7", "Data moves across domains only by explicit policy and approval.", e.CONNECTIONS),
)  # fmt: skip
