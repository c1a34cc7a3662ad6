"""A program that makes a list of system calls, built here byte by byte.

Landlock must be applied inside the sandbox, after the last mount and before the command, where no
interpreter can be relied on. So the first program inside is this one: under twenty instructions
per machine, the same for every run. What it does is data: steps, one system call each, with where
to go on when the call fails. It has no stack, no library and no input, and it starts in well under
a millisecond.

The file: ELF header, three program headers, the code, then at a fixed place the report (the
address of the last step and what the kernel answered), the steps, and what they point to.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from silas.sandbox.seccomp import Machine

_CODE_AT = 0x100
_DATA_AT = 0x200
_CODE_BASE = 0x400000
_DATA_BASE = 0x500000  # the data has pages of its own: what is writable cannot be executed
_PAGE = 0x10000  # the largest page of both machines
_STEP = struct.Struct("<Q4QqQQ")
_STEPS = _DATA_BASE + _DATA_AT + 16

NOTE = struct.Struct("<Qq")
"""The report: the address of a step, and the answer of the kernel, negative for an error."""

# (bytes, what they mean to an assembler). Registers hold: rbx the step, rax number and answer.
_X86: tuple[tuple[str, str], ...] = (
    ("bb10025000", "mov ebx, STEPS"),
    ("488b03", "next: mov rax, [rbx]"),
    ("488b7b08", "mov rdi, [rbx+8]"),
    ("488b7310", "mov rsi, [rbx+16]"),
    ("488b5318", "mov rdx, [rbx+24]"),
    ("4c8b5320", "mov r10, [rbx+32]"),
    ("0f05", "syscall"),
    ("48891c2500025000", "mov [REPORT], rbx"),
    ("4889042508025000", "mov [REPORT+8], rax"),
    ("483d01f0ffff", "cmp rax, -4095"),
    ("7306", "jae failed"),
    ("4883c340", "add rbx, 64"),
    ("ebcd", "jmp next"),
    ("488b4b38", "failed: mov rcx, [rbx+56]"),
    ("483b4328", "cmp rax, [rbx+40]"),
    ("480f444b30", "cmove rcx, [rbx+48]"),
    ("4889cb", "mov rbx, rcx"),
    ("ebbb", "jmp next"),
)
# Registers hold: x19 the step, x20 the report, x8 the number, x0 the answer. Little endian.
_ARM: tuple[tuple[str, str], ...] = (
    ("134280d2", "movz x19, STEPS & 0xffff"),
    ("130aa0f2", "movk x19, STEPS >> 16, lsl 16"),
    ("144080d2", "movz x20, REPORT & 0xffff"),
    ("140aa0f2", "movk x20, REPORT >> 16, lsl 16"),
    ("680240a9", "next: ldp x8, x0, [x19]"),
    ("610a41a9", "ldp x1, x2, [x19, 16]"),
    ("631240f9", "ldr x3, [x19, 32]"),
    ("010000d4", "svc 0"),
    ("930200a9", "stp x19, x0, [x20]"),
    ("1ffc3fb1", "cmn x0, 4095"),
    ("62000054", "b.cs failed"),
    ("73020191", "add x19, x19, 64"),
    ("f8ffff17", "b next"),
    ("75da42a9", "failed: ldp x21, x22, [x19, 40]"),
    ("771e40f9", "ldr x23, [x19, 56]"),
    ("1f0015eb", "cmp x0, x21"),
    ("d302979a", "csel x19, x22, x23, eq"),
    ("f3ffff17", "b next"),
)
CODE: dict[Machine, tuple[tuple[str, str], ...]] = {"x86_64": _X86, "aarch64": _ARM}
"""The whole program of each machine, which no run changes."""

_ELF_MACHINE: dict[Machine, int] = {"x86_64": 62, "aarch64": 183}
_LOAD, _STACK = 1, 0x6474E551
_X, _W, _R = 1, 2, 4

REPORT = _DATA_BASE + _DATA_AT
"""The address of the report, which a step may write somewhere."""


class Counted(NamedTuple):
    """Records of one size, passed as a C structure of their number and their address."""

    content: bytes
    size: int


SyscallArgument = int | bytes | Counted | tuple[bytes, ...]
"""A number; bytes, passed as their address; records; or strings, as a C array of addresses."""


class SyscallStep(NamedTuple):
    """One system call.

    Attributes:
        call: Its number.
        arguments: At most four.
        failed: The step to go on with when it fails; a negative one counts from the end.
        errno, otherwise: Another step for one errno.
        what: Words for an error message.
    """

    call: int
    arguments: tuple[SyscallArgument, ...]
    failed: int
    errno: int = 0
    otherwise: int = 0
    what: str = ""


def step_at(address: int) -> int:
    """Which step a report speaks of."""
    return (address - _STEPS) // _STEP.size


class _Data:
    """What steps point to, each content once, from an address on."""

    def __init__(self, base: int) -> None:
        self._base = base
        self._known: dict[bytes, int] = {}
        self.content = bytearray()

    @property
    def end(self) -> int:
        """Where the next content goes."""
        return self._base + len(self.content)

    def address(self, argument: SyscallArgument) -> int:
        if isinstance(argument, int):
            return argument & 0xFFFFFFFFFFFFFFFF
        if isinstance(argument, Counted):
            count = len(argument.content) // argument.size
            return self.address(struct.pack("<QQ", count, self.address(argument.content)))
        if isinstance(argument, tuple):
            strings = [self.address(text + b"\0") for text in argument]
            return self.address(struct.pack(f"<{len(strings) + 1}Q", *strings, 0))
        if argument not in self._known:
            self._known[argument] = self.end
            self.content += argument + bytes(-len(argument) % 8)
        return self._known[argument]


class _Packed(NamedTuple):
    """Steps, what they point to, and where that ends."""

    steps: bytes
    data: bytes
    end: int


def _pack(steps: Sequence[SyscallStep], total: int, base: int) -> _Packed:
    data = _Data(base)
    packed = bytearray()
    for call, arguments, failed, errno, otherwise, _ in steps:
        values = [data.address(argument) for argument in arguments]
        values += [0] * (4 - len(values))
        on_errno = _STEPS + otherwise * _STEP.size
        on_failure = _STEPS + failed % total * _STEP.size
        packed += _STEP.pack(call, *values, -errno, on_errno, on_failure)
    return _Packed(bytes(packed), bytes(data.content), data.end)


_pack_known = lru_cache(maxsize=64)(_pack)


def _segment(kind: int, flags: int, base: int, size: int) -> bytes:
    return struct.pack("<IIQQQQQQ", kind, flags, 0, base, base, size, size, _PAGE)


def assemble(
    machine: Machine, known: tuple[SyscallStep, ...], fresh: Sequence[SyscallStep]
) -> bytes:
    """The program as a static ELF file; it begins with the first step.

    The last step a run can come to must never return: `exit_group`.

    Args:
        machine: Whose instructions.
        known: The first steps, which many runs share; remembered.
        fresh: The steps of this run alone.
    """
    code = bytes.fromhex("".join(text for text, _ in CODE[machine]))
    total = len(known) + len(fresh)
    first = _pack_known(known, total, _STEPS + total * _STEP.size)
    second = _pack(fresh, total, first.end)
    tail = bytes(NOTE.size) + first.steps + second.steps + first.data + second.data
    header = struct.pack(
        "<4s5B7xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, 0, 0),  # 64 bits, little endian, version 1, System V
        *(2, _ELF_MACHINE[machine], 1, _CODE_BASE + _CODE_AT),  # executable; entry
        *(64, 0, 0, 64, 56, 3, 64, 0, 0),  # program headers follow; no sections
    )
    head = header + b"".join(
        (
            _segment(_LOAD, _R | _X, _CODE_BASE, _CODE_AT + len(code)),
            _segment(_LOAD, _R | _W, _DATA_BASE, _DATA_AT + len(tail)),
            _segment(_STACK, _R | _W, 0, 0),
        )
    )
    return head.ljust(_CODE_AT, b"\0") + code.ljust(_DATA_AT - _CODE_AT, b"\0") + tail
