"""Where the configuration comes from, what wins, and what is said when it is wrong."""

from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from pydantic import BaseModel

from silas.config import SilasConfig, config_file, dump_config, load_config, locations
from silas.errors import ConfigError
from silas.gates import GateProvider

SHIPPED = Path(__file__).parents[2] / "config" / "silas.yaml"


def _load(tmp_path: Path, text: str, **environ: str) -> SilasConfig:
    file = tmp_path / "config.yaml"
    file.write_text(text, "utf-8")
    return load_config(file, {"HOME": str(tmp_path), **environ})


def _refused(tmp_path: Path, text: str, **environ: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text, **environ)
    assert "\n" not in caught.value.message
    return caught.value


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    config = load_config(environ={"HOME": str(tmp_path)})
    assert config == SilasConfig(data_dir=tmp_path / ".local/share/silas")


@pytest.mark.parametrize("what", ["a file", "a link to nothing", "below a file"])
def test_what_can_be_no_data_directory_is_named_as_what_it_is(tmp_path: Path, what: str) -> None:
    home = tmp_path / "home"
    if what == "below a file":
        home.write_text("")
    else:
        home.mkdir()
    if what == "a file":
        (home / "data").write_text("")
    if what == "a link to nothing":
        (home / "data").symlink_to(home / "nowhere")
    with pytest.raises(ConfigError) as caught:
        load_config(environ={"HOME": str(tmp_path), "SILAS_HOME": str(home)})
    assert f"cannot use its directory {home / 'data'}" in caught.value.message
    assert caught.value.code == "E_CFG_HOME"


class TestTheShippedFile:
    @pytest.mark.proves("A14-DEFAULTS-RUN")
    def test_it_equals_the_defaults(self, tmp_path: Path) -> None:
        environ = {"HOME": str(tmp_path)}
        assert load_config(SHIPPED, environ) == load_config(environ=environ)

    @pytest.mark.proves("S11-KEYS")
    def test_it_names_every_key(self) -> None:
        given: Any = yaml.safe_load(SHIPPED.read_text("utf-8"))["silas"]
        assert _missing(SilasConfig, given) == []

    @pytest.mark.proves("A14-DEFAULTS-RUN")
    def test_every_section_says_something_and_every_gate_runs_on_the_base_install(
        self, tmp_path: Path
    ) -> None:
        config = load_config(SHIPPED, {"HOME": str(tmp_path)})
        assert {gate.provider for gate in config.gates.system} == {GateProvider.predicate}
        assert SHIPPED.read_text("utf-8").count(" # ") > 20

    def test_it_is_read_from_the_environment_where_it_says_so(self, tmp_path: Path) -> None:
        environ = {"HOME": str(tmp_path), "SEARCH_API_KEY": "k", "OPENROUTER_API_KEY": "k"}
        config = load_config(SHIPPED, environ)
        assert config.search.enabled
        assert config.models.planner.name.startswith("openrouter:")


def _missing(model: type[BaseModel], given: Any, path: str = "") -> list[str]:
    """Keys of a model, at any depth, that the file does not have."""
    gone: list[str] = []
    for name, field in model.model_fields.items():
        key = field.alias or name
        where = f"{path}{key}"
        if key not in given:
            gone.append(where)
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            inner: Any = given.get(key)
            if isinstance(inner, dict):
                gone += _missing(kind, inner, where + ".")
    return gone


class TestPlaces:
    def test_silas_home_holds_everything(self) -> None:
        found = locations({"SILAS_HOME": "/s", "XDG_DATA_HOME": "/x", "HOME": "/h"})
        assert [str(p) for p in found] == ["/s/config.yaml", "/s/data", "/s/state"]

    def test_otherwise_the_xdg_directories_do(self) -> None:
        environ = {
            "HOME": "/h",
            "XDG_CONFIG_HOME": "/c",
            "XDG_DATA_HOME": "/d",
            "XDG_STATE_HOME": "/t",
        }
        found = [str(p) for p in locations(environ)]
        assert found == ["/c/silas/config.yaml", "/d/silas", "/t/silas"]

    @pytest.mark.parametrize("given", ["", "relative/path"])
    def test_an_empty_or_relative_xdg_path_does_not_count(self, given: str) -> None:
        found = locations({"HOME": "/h", "XDG_CONFIG_HOME": given, "XDG_DATA_HOME": given})
        assert str(found.config_file) == "/h/.config/silas/config.yaml"
        assert str(found.data_dir) == "/h/.local/share/silas"

    def test_a_named_file_wins_over_silas_home_and_that_over_xdg(self, tmp_path: Path) -> None:
        environ = {"SILAS_HOME": str(tmp_path / "s"), "HOME": str(tmp_path)}
        for name, owner in [(".config/silas", "xdg"), ("s", "home"), ("named", "named")]:
            (tmp_path / name).mkdir(parents=True)
            (tmp_path / name / "config.yaml").write_text(f"silas: {{owner_id: {owner}}}")
        named = tmp_path / "named/config.yaml"
        assert load_config(named, environ).owner_id == "named"
        assert load_config(environ=environ).owner_id == "home"
        assert load_config(environ={"HOME": str(tmp_path)}).owner_id == "xdg"
        assert config_file(named, environ) == named
        assert config_file(None, environ) == tmp_path / "s/config.yaml"

    def test_a_named_file_must_exist(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="There is no configuration file") as caught:
            load_config(tmp_path / "none.yaml", {})
        assert caught.value.code == "E_CFG_FILE"

    def test_a_file_that_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=str(tmp_path)) as caught:
            load_config(tmp_path, {})
        assert caught.value.code == "E_CFG_FILE"
        (tmp_path / "latin").write_bytes(b"silas: {owner_id: \xe9}")
        with pytest.raises(ConfigError, match="cannot be read"):
            load_config(tmp_path / "latin", {})

    def test_paths_are_meant_from_the_data_directory(self, tmp_path: Path) -> None:
        config = _load(
            tmp_path,
            "silas: {data_dir: d, skills_dir: s, plans_dirs: [p, /abs], active_goal: g.md,"
            " keys: {key_file: k}, sandbox: {verify_dir: v}}",
        )
        data = tmp_path / "d"
        assert config.data_dir == data
        assert config.skills_dir == data / "s"
        assert config.plans_dirs == (data / "p", Path("/abs"))
        assert config.active_goal == data / "g.md"
        assert config.keys.key_file == data / "k"
        assert config.sandbox.verify_dir == data / "v"
        assert config.sandbox.customer_context_dir == data / "customer_context"


class TestTheEnvironment:
    def test_a_variable_is_filled_in(self, tmp_path: Path) -> None:
        text = "silas: {owner_id: 'a-${WHO}-$${WHO}', channels: {web: {port: '${PORT}'}}}"
        config = _load(tmp_path, text, WHO="x", PORT="9000")
        assert (config.owner_id, config.channels.web.port) == ("a-x-${WHO}", 9000)

    @pytest.mark.parametrize("environ", [{}, {"KEY": ""}])
    def test_a_variable_that_is_not_set_is_null_where_null_may_be(
        self, tmp_path: Path, environ: dict[str, str]
    ) -> None:
        config = _load(tmp_path, "silas: {search: {api_key: '${KEY}'}}", **environ)
        assert config.search.api_key is None
        assert not config.search.enabled

    @pytest.mark.parametrize("text", ["owner_id: ${WHO}", "owner_id: a-${WHO}", "limits: ${WHO}"])
    def test_elsewhere_the_error_names_it(self, tmp_path: Path, text: str) -> None:
        error = _refused(tmp_path, f"silas:\n  {text}\n")
        assert "WHO" in error.message
        assert "line 2" in error.message

    def test_what_a_variable_contains_is_never_read_again(self, tmp_path: Path) -> None:
        config = _load(tmp_path, "silas: {owner_id: '${A}'}", A="${B}", B="b")
        assert config.owner_id == "${B}"

    @pytest.mark.proves("S11-ENVIRONMENT")
    def test_overrides_win_over_the_file(self, tmp_path: Path) -> None:
        config = _load(
            tmp_path,
            "silas: {owner_id: file, channels: {web: {port: 1}}}",
            SILAS_OWNER_ID="env",
            SILAS_CHANNELS__WEB__PORT="2",
            SILAS_APPROVAL__DEFAULT_TTL_MINUTES="5",
            SILAS_SKILLS__IMPORT__ALLOW_EXTERNAL="false",
            SILAS_SEARCH__ALLOWED_DOMAINS="[a.example, b.example]",
            SILAS_MODELS__PLANNER="openai:gpt-5",
            SILAS_SEARCH__PROVIDER="null",
        )
        assert config.owner_id == "env"
        assert config.channels.web.port == 2
        assert config.approval.default_ttl_minutes == 5
        assert not config.skills.import_.allow_external
        assert config.search.allowed_domains == ("a.example", "b.example")
        assert config.models.planner.name == "openai:gpt-5"
        assert config.models.proxy.name == "runbook"
        assert config.search.provider is None

    def test_other_variables_of_silas_are_not_overrides(self, tmp_path: Path) -> None:
        config = _load(tmp_path, "silas: {}", SILAS_TELEGRAM_TOKEN="t", SILAS_DEBUG="1")
        assert config.channels.telegram.token is None

    def test_an_override_of_nothing_names_the_variable_and_the_nearest_key(
        self, tmp_path: Path
    ) -> None:
        error = _refused(tmp_path, "silas: {}", SILAS_CHANNELS__WEB__PROT="1")
        assert error.code == "E_CFG_UNKNOWN_KEY"
        assert "SILAS_CHANNELS__WEB__PROT" in error.message
        assert "the nearest is port" in error.message

    def test_an_override_that_is_half_a_list_is_refused(self, tmp_path: Path) -> None:
        error = _refused(tmp_path, "silas: {}", SILAS_SEARCH__ALLOWED_DOMAINS="[a")
        assert "SILAS_SEARCH__ALLOWED_DOMAINS" in error.message


class TestModels:
    @pytest.mark.proves("A14-DEFAULTS-RUN")
    def test_roles_follow_the_key_in_the_environment(self, tmp_path: Path) -> None:
        assert _load(tmp_path, "silas: {}").models.planner.name == "runbook"
        keyed = _load(tmp_path, "silas: {models: {proxy: null}}", OPENROUTER_API_KEY="k")
        assert keyed.models.proxy.name.startswith("openrouter:")

    def test_a_role_that_is_set_stays(self, tmp_path: Path) -> None:
        text = "silas: {models: {planner: {name: m, base_url: 'http://127.0.0.1:1/v1'}}}"
        config = _load(tmp_path, text, OPENROUTER_API_KEY="k")
        assert config.models.planner.base_url == "http://127.0.0.1:1/v1"
        assert config.models.executor.name.startswith("openrouter:")


@pytest.mark.parametrize(
    ("text", "where", "nearest"),
    [
        ("silas:\n  ownr_id: x", "line 2", "owner_id"),
        ("silas:\n  models:\n    planer: x", "line 3", "planner"),
        ("silas:\n  models:\n    planner:\n      nam: x", "line 4", "name"),
        ("silas:\n  gates:\n    system:\n      - {name: a, on: after_step, typ: regex}", "line 4",
         "type"),
        ("silas:\n  context:\n    profiles:\n      x: {chronicle: 1}", "line 4", "chronicle_pct"),
        ("silas:\n  skills:\n    imprt: {}", "line 3", "import"),
        ("silas:\n  personality:\n    mood:\n      neutral: {enrgy: 1}", "line 4", "energy"),
        ("silas:\n  Sandbox: {}", "line 2", "sandbox"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_refused_with_its_line_and_the_nearest_one(
    tmp_path: Path, text: str, where: str, nearest: str
) -> None:
    error = _refused(tmp_path, text)
    assert error.code == "E_CFG_UNKNOWN_KEY"
    assert where in error.message
    assert f"the nearest is {nearest}" in error.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("silas: [", "line"),
        ("silas:\n  a: 1\n a: 2", "line 3"),
        ("silas:\n  owner_id: a\n  owner_id: b", "line 3, column 3: the key `owner_id` is"),
        ("silas: {a: &x 1, b: [*x, *x]}", "aliases"),
        ("silas: {a: &x [1], b: *x}", "aliases"),
        ("silas: &x\n  a: *x", "aliases"),
        ("silas: {a: !!python/object/apply:os.system [x]}", "tags"),
        ("silas: {owner_id: !!python/name:os.system x}", "tag"),
        ("silas: {[a]: 1}", "plain text"),
        ("owner_id: x", "one top-level key"),
        ("silas: {}\nother: {}", "one top-level key"),
        ("- silas", "one top-level key"),
        ("silas: text", "must be a mapping"),
        ("silas: {}\n---\nsilas: {}", "line 2"),
        ("silas: {limits: 3}", "limits"),
        ("silas: {models: [a]}", "models"),
        ("silas: {data_dir: 3}", "data_dir"),
        ("silas: {channels: {web: {port: 99999}}}", "channels.web.port"),
        ("silas: {channels: {web: {port: 99999999999999999999999}}}", "channels.web.port"),
        ("silas: {owner_id: \x07}", "cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    assert words in _refused(tmp_path, text).message


def test_yaml_means_what_it_looks_like(tmp_path: Path) -> None:
    text = "silas: {owner_id: on, gates: {system: [{name: no, on: after_step, check: 12:30}]}}"
    config = _load(tmp_path, text)
    assert config.owner_id == "on"
    gate = config.gates.system[0]
    assert (gate.name, gate.on, gate.check) == ("no", "after_step", "12:30")


@pytest.mark.parametrize("text", ["", "silas:", "silas: {}", "# nothing"])
def test_an_empty_file_is_all_defaults(tmp_path: Path, text: str) -> None:
    assert _load(tmp_path, text) == load_config(environ={"HOME": str(tmp_path)})


class TestShowing:
    def test_secrets_are_masked_and_the_rest_can_be_read_back(self, tmp_path: Path) -> None:
        secrets = "silas: {search: {api_key: s3cret}, channels: {web: {auth_token: t0ken}}}"
        shown = dump_config(_load(tmp_path, secrets))
        assert "s3cret" not in shown
        assert "t0ken" not in shown
        assert "*****" in shown
        plain = _load(tmp_path, "silas: {owner_id: me}")
        assert _load(tmp_path, dump_config(plain)) == plain

    def test_no_secret_is_in_what_python_prints(self, tmp_path: Path) -> None:
        config = _load(tmp_path, "silas: {search: {api_key: s3cret}}")
        assert "s3cret" not in repr(config)
        assert "s3cret" not in str(cast(object, config.model_dump()))
