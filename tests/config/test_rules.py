"""Every start-up rule of the configuration: broken, it is one sentence with its own code."""

from pathlib import Path

import pytest

from silas.config import SilasConfig, load_config
from silas.errors import ConfigError


def _load(tmp_path: Path, text: str) -> SilasConfig:
    file = tmp_path / "config.yaml"
    file.write_text(f"silas: {{data_dir: data, {text}}}", "utf-8")
    return load_config(file, {"HOME": str(tmp_path)})


@pytest.mark.proves(
    "S11-REMOTE-NEEDS-TOKEN",
    "S11-DIRECTORIES-DIFFER",
    "S11-CUSTOMER-DIRECTORY",
    "S11-PROFILES",
    "S11-SKILL-METADATA-SHARE",
    "S11-ALL-REGISTERS",
    "S11-HYSTERESIS",
    "S11-BATCH-SIZES",
    "S11-SUGGESTIONS-NEED-SCHEDULER",
    "S11-IMPORT-NEEDS-REPORT",
    "S11-DESCRIPTION-BOUNDS",
    "S18.1-CFG",
    "S5.6-CUSTOMER-DIRECTORY",
    "S3.5-PROFILE-RANGES",
)
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("channels: {web: {host: 0.0.0.0}}", "E_CFG_WEB_AUTH", "auth_token"),
        ("channels: {web: {host: '::'}}", "E_CFG_WEB_AUTH", "auth_token"),
        ("channels: {web: {host: 192.168.0.3}}", "E_CFG_WEB_AUTH", "auth_token"),
        ("channels: {web: {host: my.host}}", "E_CFG_WEB_AUTH", "auth_token"),
        ("channels: {web: {host: 0.0.0.0, auth_token: ' '}}", "E_CFG_WEB_AUTH", "auth_token"),
        ("channels: {telegram: {enabled: true, token: t}}", "E_CFG_TELEGRAM", "not part"),
        ("sandbox: {verify_dir: x, customer_context_dir: x}", "E_CFG_SANDBOX_DIRS", "different"),
        ("sandbox: {verify_dir: x/y/.., customer_context_dir: x}", "E_CFG_SANDBOX_DIRS", "both"),
        ("sandbox: {customer_context_dir: /tmp/c}", "E_CFG_CUSTOMER_DIR", "not inside"),
        ("sandbox: {customer_context_dir: ../c}", "E_CFG_CUSTOMER_DIR", "not inside"),
        ("sandbox: {customer_context_dir: .}", "E_CFG_CUSTOMER_DIR", "not inside"),
        ("context: {profiles: {conversation: {chronicle_pct: 1.01, memory_pct: 0,"
         " workspace_pct: 0}}}", "E_CFG_CONTEXT_PROFILE", "between 0.0 and 1.0"),
        ("context: {profiles: {conversation: {chronicle_pct: -0.01, memory_pct: 0,"
         " workspace_pct: 0}}}", "E_CFG_CONTEXT_PROFILE", "between 0.0 and 1.0"),
        ("context: {profiles: {conversation: {chronicle_pct: 0.5, memory_pct: 0.2,"
         " workspace_pct: 0.11}}}", "E_CFG_CONTEXT_PROFILE", "0.81"),
        ("context: {default_profile: nope}", "E_CFG_INVALID", "not among the profiles"),
        ("context: {skill_metadata_budget_pct: 0.11}", "E_CFG_SKILL_METADATA", "0.1"),
        ("context: {skill_metadata_budget_pct: -0.01}", "E_CFG_SKILL_METADATA", "0"),
        ("interaction: {default_mode_by_register: {exploration: act_and_report}}",
         "E_CFG_INTERACTION", "execution, review, status"),
        ("autonomy: {widen_correction_rate_max: 0.2, tighten_correction_rate_min: 0.2}",
         "E_CFG_AUTONOMY", "less than"),
        ("autonomy: {max_batch_review_size: 9}", "E_CFG_BATCH_SIZE", "default_size"),
        ("batch_review: {default_size: 51}", "E_CFG_BATCH_SIZE", "51"),
        ("scheduler: {enabled: false}", "E_CFG_SUGGESTIONS", "scheduler.enabled"),
        ("scheduler: {timezone: Vienna}", "E_CFG_INVALID", "time zone"),
        ("suggestions: {heartbeat_cron: '61 * * * *'}", "E_CFG_INVALID", "minute"),
        ("skills: {import: {require_transform_report: false}}", "E_CFG_SKILL_IMPORT",
         "require_transform_report"),
        ("skills: {validation: {description_min_chars: 2000}}", "E_CFG_SKILL_VALIDATION",
         "greater than"),
        # no key can name a model as the judge of skills: validation stays reproducible
        ("skills: {validation: {evaluator: llm}}", "E_CFG_UNKNOWN_KEY", "evaluator"),
        ("approval: {auto_approve_risk_levels: [low]}", "E_CFG_INVALID", "auto_approve"),
        ("gates: {system: [{name: a, on: after_step}, {name: a, on: after_step}]}",
         "E_CFG_GATES", "two gates"),
        ("gates: {system: [{name: a, on: after_step, type: regex, check: '(a+)+'}]}",
         "E_CFG_GATES", "repeats"),
        ("gates: {system: [{name: a, on: sometimes}]}", "E_CFG_GATES", "every_user_message"),
        ("models: {planner: {name: runbook, base_url: 'http://x'}}", "E_CFG_MODEL", "base_url"),
        ("personality: {directive_tokens_min: 500}", "E_CFG_INVALID", "directive_tokens_max"),
    ],
)  # fmt: skip
def test_a_broken_rule_stops_the_start(tmp_path: Path, text: str, code: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert (caught.value.code, words in caught.value.message) == (code, True)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "channels: {web: {host: 0.0.0.0, auth_token: t}}",
        "channels: {web: {host: 127.0.0.2}}",
        "channels: {web: {host: '::1'}}",
        "channels: {web: {host: localhost}}",
        "context: {profiles: {conversation: {chronicle_pct: 0.45, memory_pct: 0.2,"
        " workspace_pct: 0.15}}}",
        "context: {profiles: {conversation: {chronicle_pct: 0.0, memory_pct: 0.0,"
        " workspace_pct: 0.8}}}",
        "context: {skill_metadata_budget_pct: 0.0}",
        "context: {skill_metadata_budget_pct: 0.10}",
        "autonomy: {max_batch_review_size: 10}",
        "scheduler: {enabled: false}, suggestions: {enabled: false}",
        "skills: {import: {allow_external: false, require_transform_report: false}}",
        "skills: {validation: {description_min_chars: 1024}}",
        "sandbox: {customer_context_dir: deep/inside}",
    ],
)
def test_a_rule_that_just_holds_does_not(tmp_path: Path, text: str) -> None:
    assert _load(tmp_path, text)


@pytest.mark.proves("S11-CUSTOMER-DIRECTORY")
def test_a_customer_directory_that_everyone_may_write_to_stops_the_start(tmp_path: Path) -> None:
    customers = tmp_path / "data" / "customer_context"
    customers.mkdir(parents=True)
    customers.chmod(0o777)
    with pytest.raises(ConfigError, match="chmod 700") as caught:
        _load(tmp_path, "")
    assert caught.value.code == "E_CFG_CUSTOMER_DIR"
    customers.chmod(0o755)
    assert _load(tmp_path, "")


@pytest.mark.proves("S11-DIRECTORIES-DIFFER")
def test_directories_that_are_one_through_a_link_are_one(tmp_path: Path) -> None:
    (tmp_path / "data" / "real").mkdir(parents=True)
    (tmp_path / "data" / "link").symlink_to("real")
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, "sandbox: {verify_dir: real, customer_context_dir: link}")
    assert caught.value.code == "E_CFG_SANDBOX_DIRS"


@pytest.mark.proves("S11-CUSTOMER-DIRECTORY")
def test_a_customer_directory_that_leads_outside_through_a_link_is_outside(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "customer_context").symlink_to("/tmp")
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, "")
    assert caught.value.code == "E_CFG_CUSTOMER_DIR"


@pytest.mark.parametrize(
    ("provider", "key", "enabled"),
    [("tavily", "k", True), ("tavily", "", False), ("tavily", " ", False), ("null", "k", False)],
)
def test_web_search_is_there_only_with_a_provider_and_a_key(
    tmp_path: Path, provider: str, key: str, enabled: bool
) -> None:
    config = _load(tmp_path, f"search: {{provider: {provider}, api_key: '{key}'}}")
    assert config.search.enabled is enabled


@pytest.mark.proves("S18.1-CFG", "S11-SUGGESTIONS-NEED-SCHEDULER")
def test_the_rules_hold_for_a_configuration_made_in_python(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        SilasConfig.model_validate({"data_dir": tmp_path, "scheduler": {"enabled": False}})
