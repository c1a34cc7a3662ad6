"""One line of configuration names a model; everything wrong with it is one clear sentence."""

from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_ai.models import Model

from silas.agents import ModelChoice, ModelsConfig, default_models
from silas.agents.providers.factory import make_model
from silas.errors import ConfigError
from silas.testing.models import ScriptedModel


def scripted() -> ScriptedModel:
    """A factory that a configuration can name."""
    return ScriptedModel([])


not_a_model = "text"


def runbook() -> Model:
    return ScriptedModel(["runbook"])


def make(name: str, **choice: Any) -> Model:
    return make_model(ModelChoice(name=name, **choice), runbook=runbook, environ={})


def test_without_a_key_every_role_is_served_by_the_runbook() -> None:
    roles = default_models({}).model_dump()
    assert {role["name"] for role in roles.values()} == {"runbook"}
    assert default_models({"OPENROUTER_API_KEY": "  "}) == ModelsConfig()


def test_with_a_key_the_models_are_hosted_and_the_planner_is_the_stronger_one() -> None:
    models = default_models({"OPENROUTER_API_KEY": "sk"})
    assert models.proxy.name == "openrouter:anthropic/claude-haiku-4-5"
    assert models.planner.name == "openrouter:anthropic/claude-sonnet-5.5"
    assert models.executor.name == "openrouter:anthropic/claude-haiku-4-5"
    assert models.scorer.name == "openrouter:anthropic/claude-haiku-4-5"


def test_a_plain_string_is_a_name_and_a_mapping_says_more() -> None:
    config = ModelsConfig.model_validate(
        {
            "proxy": "ollama:qwen3",
            "planner": {
                "name": "local",
                "base_url": "http://127.0.0.1:8080/v1",
                "output": "native",
            },
        }
    )
    assert config.proxy == ModelChoice(name="ollama:qwen3")
    assert config.planner.output == "native"
    assert config.executor.name == "runbook"


@pytest.mark.parametrize(
    "choice",
    [
        {"name": ""},
        {"name": "x", "output": "yaml"},
        {"name": "x", "base_url": "127.0.0.1:8080"},
        {"name": "x", "timeout_seconds": 0},
        {"name": "x", "temperature": 3},
        {"name": "x", "modle": "y"},
        {"name": "runbook", "base_url": "http://127.0.0.1/v1"},
        {"name": "python:a:b", "api_key_env": "KEY"},
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(choice: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ModelsConfig.model_validate({"proxy": choice})


def test_runbook_is_made_by_whoever_has_the_library() -> None:
    assert make("runbook").model_name == "scripted"


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("openrouter:anthropic/claude-haiku-4-5", "OPENROUTER_API_KEY"),
        ("openai:gpt-5.2", "OPENAI_API_KEY"),
        ("openai-chat:gpt-5.2", "OPENAI_API_KEY"),
        ("anthropic:claude-haiku-4-5", "anthropic"),
        ("groq:llama", "groq"),
        ("no-such-provider:x", "no-such-provider"),
        ("just-a-name", "just-a-name"),
        ("python:nowhere", "python:package.module:factory"),
        ("python:no.such.module:f", "no"),
        ("python:silas.errors:no_such_name", "no_such_name"),
        (f"python:{__name__}:not_a_model", "str"),
    ],
)
def test_a_model_that_cannot_be_made_says_what_to_set_or_install(name: str, needs: str) -> None:
    with pytest.raises(ConfigError) as refused:
        make(name)
    assert refused.value.code == "E_CFG_MODEL"
    assert needs in refused.value.message
    assert "\n" not in refused.value.message


def test_a_named_key_that_is_not_set_is_said_by_name() -> None:
    with pytest.raises(ConfigError, match="export MY_KEY"):
        make("openrouter:x", api_key_env="MY_KEY")


def test_a_named_key_reaches_any_provider() -> None:
    choice = ModelChoice(name="openrouter:anthropic/claude-haiku-4-5", api_key_env="MY_KEY")
    made = make_model(choice, runbook=runbook, environ={"MY_KEY": "sk-1"})
    assert made.system == "openrouter"
    assert made.provider is not None
    assert made.provider.client.api_key == "sk-1"


def test_a_factory_of_the_users_own_is_called() -> None:
    assert make(f"python:{__name__}:scripted").model_name == "scripted"


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("openai:gpt-oss", "gpt-oss"),
        ("openai-chat:gpt-oss", "gpt-oss"),
        ("qwen3:8b", "qwen3:8b"),
        ("anthropic/claude", "anthropic/claude"),
        ("ollama:qwen3:8b", "qwen3:8b"),
    ],
)
def test_an_endpoint_gets_its_own_name_for_the_model(name: str, served: str) -> None:
    made = make(name, base_url="http://127.0.0.1:8080/v1")
    assert made.model_name == served
    assert made.base_url is not None
    assert made.base_url.startswith("http://127.0.0.1:8080/v1")


def test_ollama_needs_no_address() -> None:
    assert str(make("ollama:qwen3").base_url).startswith("http://127.0.0.1:11434/v1")


def test_settings_reach_the_model_and_the_clients_own_retries_are_off() -> None:
    made = make(
        "local",
        base_url="http://127.0.0.1:8080/v1",
        timeout_seconds=7,
        max_tokens=100,
        temperature=0.5,
    )
    assert made.settings == {
        "request_timeout": 7.0,
        "timeout": 12.0,
        "first_event_timeout": 120.0,
        "max_retries": 0,
        "max_tokens": 100,
        "temperature": 0.5,
    }
