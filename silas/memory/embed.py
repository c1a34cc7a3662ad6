"""What makes vectors of texts, so that memories are found by what they mean (spec 6.2)."""

import asyncio
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from silas.errors import LLMError, SilasError, from_foreign, reason

Vector = list[float]

_LONGEST = 8_000  # characters of a text that are looked at; models read fewer
_OK = 200
_BYTES_PER_NUMBER = 40  # of an answer's JSON, generously
_OVERHEAD = 64 * 1024  # bytes of an answer that are no numbers
_FILES = ("model.onnx", "config.json", "tokenizer.json", "tokenizer_config.json")
_EXTRA = "install it with `pip install 'silas[vector]'`, or set `memory.embedder: none`"


class Embedder(Protocol):
    """Makes vectors of one model; texts that mean alike have vectors that point alike."""

    @property
    def name(self) -> str:
        """The model with its length: vectors of different names are never compared."""
        ...

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        ...

    async def embed(self, text: str) -> Vector:
        """The vector of one text. Raises `LLMError` where it cannot be had."""
        ...

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of several texts, in their order. Raises `LLMError`."""
        ...

    def fault(self) -> str:
        """Why it makes no vectors here, in words for `silas doctor`; empty where it does."""
        ...


class NoEmbedder:
    """Makes no vectors: memories are found by their words."""

    name = ""
    dim = 0

    async def embed(self, text: str) -> Vector:
        """The empty vector."""
        del text
        return []

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """An empty vector for each."""
        return [[] for _ in texts]

    def fault(self) -> str:
        """None: this is what was chosen."""
        return ""


class FastEmbedder:
    """A model on this machine, through fastembed and ONNX. Loaded when the first text comes."""

    def __init__(
        self, model: str, dim: int, path: Path | None, cache: Path, *, download: bool
    ) -> None:
        """Load nothing yet.

        Args:
            model: Its name, with or without its maker's.
            dim: How many numbers a vector has.
            path: The directory with its files; None for where fastembed keeps it by its name.
            cache: That place.
            download: Fetch it where it is missing; otherwise nothing reaches for the network.
        """
        self.dim = dim
        self.name = f"{model}:{dim}"
        self._model, self._path, self._cache, self._download = model, path, cache, download
        self._lock = threading.Lock()
        self._loaded: Any = None

    async def embed(self, text: str) -> Vector:
        """See `Embedder.embed`."""
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed_batch`; runs beside the event loop."""
        return await asyncio.to_thread(self._embed_texts, [text[:_LONGEST] for text in texts])

    def fault(self) -> str:
        """See `Embedder.fault`; loads the model."""
        try:
            self._ready()
        except SilasError as error:
            return error.message
        return ""

    def _embed_texts(self, texts: list[str]) -> list[Vector]:
        model = self._ready()
        with self._lock:
            vectors: list[Any] = list(model.embed(texts, batch_size=len(texts)))
        return [_check_vector(vector.tolist(), self.dim, self._model) for vector in vectors]

    def _ready(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        try:
            from fastembed import TextEmbedding  # noqa: PLC0415 - an extra, and heavy
            from loguru import logger  # noqa: PLC0415 - fastembed's
        except ImportError as error:
            raise _unusable(f"fastembed is not installed; {_EXTRA}") from error
        logger.disable("fastembed")  # the terminal belongs to Silas and its owner
        known = [str(each["model"]) for each in TextEmbedding.list_supported_models()]
        full = next((m for m in known if m == self._model or m.endswith(f"/{self._model}")), "")
        if not full:
            raise _unusable(f"fastembed knows no model {self._model!r}; see its list of models")
        if self._path is not None and (
            missing := [f for f in _FILES if not (self._path / f).is_file()]
        ):
            raise _unusable(
                f"{self._path} has no {missing[0]}; name the model's directory in "
                "`memory.embedding_path`"
            )
        where: Any = {} if self._path is None else {"specific_model_path": str(self._path)}
        try:
            return TextEmbedding(
                full,
                cache_dir=str(self._cache),
                threads=1,  # the other core is for whoever waits
                local_files_only=not self._download,
                **where,
            )
        except Exception as error:  # whatever its libraries raise, one sentence says what to do
            raise _unusable(
                f"the model {self._model!r} is not in {self._path or self._cache} or cannot be "
                "read; name its directory in `memory.embedding_path`, or allow "
                "`memory.embedding_download`"
            ) from error


class EndpointEmbedder:
    """A server that speaks OpenAI's `/embeddings`: a local one, or a provider's."""

    def __init__(self, base_url: str, model: str, dim: int, key: str, timeout: float) -> None:
        """Connect to nobody yet.

        Args:
            base_url: Up to `/v1`.
            model: The server's name of it.
            dim: How many numbers a vector must have.
            key: Sent as a bearer token; empty sends none.
            timeout: Seconds of one request.
        """
        self.dim = dim
        self.name = f"{model}:{dim}"
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model, self._timeout = model, timeout
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def embed(self, text: str) -> Vector:
        """See `Embedder.embed`."""
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed_batch`."""
        body = {"model": self._model, "input": [text[:_LONGEST] for text in texts]}
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._post(body, len(texts))
            return _vectors(answer, len(texts), self.dim, self._model)
        except SilasError:
            raise
        except TimeoutError as error:
            raise _unusable(
                f"the server at {self._url} did not answer within {self._timeout:g} seconds"
            ) from error
        except Exception as error:
            known = from_foreign(error)
            if isinstance(known, LLMError):
                raise known from error
            why = reason(error)
            raise _unusable(f"the server at {self._url} gave no vectors ({why})") from error

    def fault(self) -> str:
        """None without asking: what would be sent belongs to nobody."""
        return ""

    async def _post(self, body: dict[str, Any], count: int) -> Any:
        import json  # noqa: PLC0415 - beside httpx, which costs a tenth of a second

        import httpx  # noqa: PLC0415 - heavy, see above

        most = count * self.dim * _BYTES_PER_NUMBER + _OVERHEAD
        # no redirect: what is remembered goes to the server that was named and to no other
        client = httpx.AsyncClient(timeout=self._timeout, follow_redirects=False)
        async with (
            client,
            client.stream("POST", self._url, json=body, headers=self._headers) as got,
        ):
            if got.status_code != _OK:
                raise _unusable(f"the server at {self._url} answered {got.status_code}")
            read = b""
            async for piece in got.aiter_bytes():
                read += piece
                if len(read) > most:
                    raise _unusable(f"the answer of {self._url} is larger than vectors are")
        return json.loads(read)


def _vectors(answer: Any, count: int, dim: int, model: str) -> list[Vector]:
    """The vectors of an answer in the order of the texts."""
    rows = cast(list[dict[str, Any]], answer["data"])
    by_index = {int(row["index"]): row["embedding"] for row in rows}
    if by_index.keys() != set(range(count)):
        raise _unusable(f"the model {model!r} did not give one vector for each text")
    return [_check_vector([float(n) for n in by_index[n_]], dim, model) for n_ in range(count)]


def _check_vector(vector: Vector, dim: int, model: str) -> Vector:
    if len(vector) != dim:
        raise _unusable(
            f"the model {model!r} makes vectors of {len(vector)} numbers; set "
            f"`memory.embedding_dim` to that (it is {dim})"
        )
    if not all(map(math.isfinite, vector)):
        raise _unusable(f"the model {model!r} made a vector with a number that is none")
    return vector


def _unusable(why: str) -> LLMError:
    return LLMError(f"Memories cannot be found by meaning: {why}.", code="E_LLM_EMBEDDING")
