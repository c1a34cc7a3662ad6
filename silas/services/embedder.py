"""The embedder that is configured: made without loading anything, and its row of `silas doctor`."""

import os
from importlib.util import find_spec

from silas.config import SilasConfig
from silas.errors import ConfigError, SilasError
from silas.memory.embed import Embedder, EndpointEmbedder, FastEmbedder, NoEmbedder


def embedder_of(config: SilasConfig) -> Embedder:
    """The embedder that is configured; nothing is loaded or connected to.

    Raises:
        ConfigError: A package or the key's variable is missing.
    """
    memory = config.memory
    if memory.embedder == "none":
        return NoEmbedder()
    needed = ("numpy", "fastembed") if memory.embedder == "fastembed" else ("numpy",)
    if missing := [name for name in needed if find_spec(name) is None]:
        raise ConfigError(
            f"memory.embedder: {memory.embedder} needs {missing[0]}, which is not installed; run "
            "`pip install 'silas[vector]'`, or set `memory.embedder: none`.",
            code="E_CFG_EMBEDDER",
        )
    if memory.embedder == "fastembed":
        return FastEmbedder(
            memory.embedding_model,
            memory.embedding_dim,
            memory.embedding_path,
            config.data_dir / "models",
            download=memory.embedding_download,
        )
    variable = memory.embedding_api_key_env
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise ConfigError(
            f"memory.embedding_api_key_env names {variable}, which is not set; export {variable} "
            "or leave it empty.",
            code="E_CFG_EMBEDDER",
        )
    return EndpointEmbedder(
        memory.embedding_base_url,
        memory.embedding_model,
        memory.embedding_dim,
        key,
        memory.embedding_timeout_seconds,
    )


def embedder_finding(config: SilasConfig) -> tuple[str, bool, str]:
    """How memories are found, for `silas doctor`: part, well or not, words."""
    part, memory = "memory search", config.memory
    try:
        fault = embedder_of(config).fault()
    except SilasError as error:
        return part, False, error.message
    if fault:
        return part, False, fault
    if memory.embedder == "none":
        return part, True, "by words; set `memory.embedder` to find by meaning, too"
    where = memory.embedding_base_url or "on this machine"
    return part, True, f"by words and by meaning: {memory.embedding_model}, {where}"
