"""A bundle of memories, line by line (spec 4.2.3, 6.5): how it is written, read and signed.

The first line is the header, each further line one memory as canonical JSON, and the last one the
signature of whoever's key the header names. Nothing in it depends on how memories are stored.
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, Literal, NamedTuple, Self, cast

from pydantic import AwareDatetime, Field, ValidationError

from silas.canonical import canonical_bytes, read_json
from silas.errors import MemoryRefused, misfits
from silas.memory.models import MemoryItem
from silas.memory.records import check_trust
from silas.types import FrozenModel

BUNDLE_DOMAIN = b"silas.memory.bundle.v1\n"
"""Stands before what is signed of a bundle.

No approval token, message, checkpoint or succession begins with it, so a signature over one is
never one over another.
"""

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_LONGEST_HEAD = 64 * 1024  # bytes; a header has a few hundred
_LONGEST_ID = 256  # characters of a memory's id
_MOST_USES = 2**53  # the largest count that every reader of JSON has exactly


class BundleLimits(NamedTuple):
    """How much a bundle may hold; more is refused before it is read to its end.

    Attributes:
        memories: How many.
        line_bytes: Of one memory's line.
        total_bytes: Of the whole bundle.
    """

    memories: int = 2_000_000
    line_bytes: int = 4 * 1024 * 1024
    total_bytes: int = 4 * 1024 * 1024 * 1024


class BundleHeader(FrozenModel):
    """What a bundle says about itself in its first line.

    Attributes:
        count: How many memories follow.
        digest: SHA-256 over the lines of all memories, line breaks included; hex.
        exported_at: When it was made; UTC.
        owner_key: The public key of whoever signed it; empty where nobody did.
        scope_id: Whose memories they are.
    """

    bundle_version: Literal["jsonl-v1"] = "jsonl-v1"
    count: int = Field(ge=0)
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    exported_at: AwareDatetime
    owner_key: str = Field(pattern=r"^([0-9a-f]{64})?$")
    schema_version: Literal[1] = 1
    scope_id: str = Field(min_length=1, max_length=256)


class SignedBundle(NamedTuple):
    """What a signature on a bundle vouches for: `digest` is over everything before it; hex."""

    memories: int
    digest: str
    exported_at: str

    @classmethod
    def of(cls, header: BundleHeader, digest: str) -> Self:
        """Of a bundle with this header, by the digest of everything before the signature."""
        said = header.model_dump(mode="json")
        return cls(header.count, digest, said["exported_at"])


def bundle_error(why: str) -> MemoryRefused:
    """The error for a bundle that is not taken."""
    return MemoryRefused(
        f"The bundle is refused, and nothing was changed: {why}.", code="E_MEM_BUNDLE"
    )


def header_line(header: BundleHeader) -> bytes:
    """The first line."""
    return canonical_bytes(header.model_dump(mode="json")) + b"\n"


def item_line(item: MemoryItem) -> bytes:
    """A memory's line; what a model made of it (its vector) is not the memory, and stays out."""
    plain = item.model_copy(update={"embedding": None})
    return canonical_bytes(plain.model_dump(mode="json")) + b"\n"


def signature_line(signature: bytes) -> bytes:
    """The last line."""
    return canonical_bytes({"signature": signature.hex()}) + b"\n"


def bundle_bytes(signed: SignedBundle) -> bytes:
    """What is signed."""
    return BUNDLE_DOMAIN + canonical_bytes(signed._asdict())


def read_signed_bundle(data: bytes) -> SignedBundle | None:
    """The bundle that these signed bytes vouch for, or None."""
    if not data.startswith(BUNDLE_DOMAIN):
        return None
    try:
        said: Any = read_json(data.removeprefix(BUNDLE_DOMAIN))
        signed = SignedBundle(**said)
        moment = datetime.fromisoformat(signed.exported_at)
        known = (
            type(signed.memories) is int
            and signed.memories >= 0
            and _DIGEST.match(signed.digest) is not None
            and moment.tzinfo is not None
            and bundle_bytes(signed) == data
        )
    except (ValueError, TypeError):
        return None
    return signed if known else None


class BundleReader:
    """Reads a bundle once, from its beginning to its end, a line at a time.

    Args:
        source: The bundle.
        limits: How much it may hold.

    Raises:
        MemoryRefused: The header is none, or promises more than the limits allow.
    """

    def __init__(self, source: BinaryIO, limits: BundleLimits) -> None:
        self._source = source
        self._limits = limits
        self._number = 0
        self._left = limits.total_bytes
        self._all, self._items = hashlib.sha256(), hashlib.sha256()
        line = self._line(_LONGEST_HEAD)
        try:
            read_json(line)
            self.header = BundleHeader.model_validate_json(line, strict=True)
        except (ValueError, RecursionError) as error:
            raise bundle_error(
                "its first line is no header of a bundle of this version (jsonl-v1)"
            ) from error
        if self.header.count > limits.memories:
            raise bundle_error(
                f"it has {self.header.count} memories, and at most {limits.memories} are taken "
                "at once"
            )
        self.signature = b""

    def items(self) -> Iterator[MemoryItem]:
        """Every memory, then the checks of the whole; whoever stops before has checked nothing.

        Raises:
            MemoryRefused: A line is no memory, the bundle was cut off or changed, or goes on.
        """
        seen: set[int] = set()
        for _ in range(self.header.count):
            line = self._line(self._limits.line_bytes)
            self._items.update(line)
            item = read_item(line, self._number)
            if item.scope_id != self.header.scope_id:
                raise bundle_error(f"line {self._number} is a memory of another scope")
            # sixty-four bits of an id are enough to refuse a second one, and a million fit
            if (mark := hash(item.memory_id)) in seen:
                raise bundle_error(f"line {self._number} has the id of a memory before it")
            seen.add(mark)
            yield item
        if self._items.hexdigest() != self.header.digest:
            raise bundle_error(
                "it was changed: its memories are not those that its header counts on"
            )
        self.signed = SignedBundle.of(self.header, self._all.hexdigest())
        if self.header.owner_key:
            self.signature = _read_signature(self._line(_LONGEST_HEAD))
        if self._source.read(1):
            raise bundle_error("something follows after its end")

    def _line(self, longest: int) -> bytes:
        self._number += 1
        line = self._source.readline(longest + 1)
        self._left -= len(line)
        if len(line) > longest:
            raise bundle_error(f"line {self._number} is longer than {longest} bytes")
        if self._left < 0:
            raise bundle_error(f"it is larger than {self._limits.total_bytes} bytes")
        if not line.endswith(b"\n"):
            raise bundle_error(f"it was cut off in line {self._number}")
        self._all.update(line)
        return line


def read_item(line: bytes, number: int) -> MemoryItem:
    """A line as a memory.

    Raises:
        MemoryRefused: It is none, or one that could not have been exported.
    """
    try:
        found = read_json(line)
        item = MemoryItem.model_validate_json(line, strict=True)
        _check_texts(cast(dict[str, Any], found))
        return _normalise_item(item)
    except ValidationError as error:
        first = misfits(error)[0]
        raise bundle_error(f"line {number} is no memory: {first.place} {first.words}") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise bundle_error(f"line {number} is no memory: {error}") from error


def _normalise_item(item: MemoryItem) -> MemoryItem:
    """The memory with its moments in UTC and without a vector."""
    if len(item.memory_id) > _LONGEST_ID:
        raise ValueError(f"its id is longer than {_LONGEST_ID} characters")
    if item.access_count > _MOST_USES:
        raise ValueError("it was used more often than can be counted")
    try:
        check_trust(item)
    except MemoryRefused as error:
        raise ValueError(
            "it is trusted more than where it came from, which no memory is"
        ) from error
    moments = {
        name: moment.astimezone(UTC)
        for name in ("created_at", "updated_at", "valid_from", "valid_until", "last_accessed")
        if (moment := getattr(item, name)) is not None
    }
    return item.model_copy(update={**moments, "embedding": None})


def _check_texts(found: dict[str, Any]) -> None:
    """Refuses halves of characters, and names that would be cut off where they are shown."""
    for name, value in found.items():
        texts = cast(list[Any], value if isinstance(value, list) else [value])
        for text in texts:
            cut = isinstance(text, str) and "\0" in text and name != "content"
            if cut or (isinstance(text, str) and not _is_text(text)):
                raise ValueError(f"{name} holds a character that is none")


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_signature(line: bytes) -> bytes:
    """The signature, written as this module writes it and in no other way."""
    try:
        said = read_json(line)
        signature = bytes.fromhex(said["signature"])
    except (ValueError, TypeError, KeyError) as error:
        raise bundle_error("its last line is no signature") from error
    if signature_line(signature) != line:
        raise bundle_error("its last line is no signature")
    return signature
