"""The program that applies Landlock does, on both machines, exactly the steps it is given.

Two small processors, written here from the manuals, run its bytes against a made-up kernel. The
machine these tests run on executes the same bytes for real in every other test of the sandbox.
"""

import errno
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from silas.sandbox.seccomp import Machine
from silas.sandbox.syscall_player import NOTE, REPORT, SyscallStep, assemble, step_at

MACHINES: tuple[Machine, ...] = ("x86_64", "aarch64")
MASK = (1 << 64) - 1
END = 99
"""The call that ends the program in these tests."""

Kernel = Callable[[int, list[int], "Memory"], int]


@dataclass
class Memory:
    """What the ELF file's segments put where."""

    entry: int
    pages: list[tuple[int, bytearray, int]] = field(
        default_factory=list[tuple[int, bytearray, int]]
    )

    @classmethod
    def of(cls, program: bytes) -> "Memory":
        entry, headers = struct.unpack_from("<QQ", program, 24)
        count = struct.unpack_from("<H", program, 56)[0]
        memory = cls(entry)
        for at in range(count):
            kind, flags, offset, base, _, size = struct.unpack_from(
                "<IIQQQQ", program, headers + 56 * at
            )
            if kind == 1:
                memory.pages.append((base, bytearray(program[offset : offset + size]), flags))
            else:
                assert (kind, flags) == (0x6474E551, 6)  # a stack that is never executed
        return memory

    def find(self, address: int, size: int, flag: int) -> tuple[bytearray, int]:
        for base, content, flags in self.pages:
            if base <= address and address + size <= base + len(content):
                assert flags & flag, "no right to do this here"
                return content, address - base
        raise AssertionError(f"nothing at {address:#x}")

    def word(self, address: int) -> int:
        content, at = self.find(address, 8, 4)
        return int.from_bytes(content[at : at + 8], "little")

    def store(self, address: int, value: int) -> None:
        content, at = self.find(address, 8, 2)
        content[at : at + 8] = value.to_bytes(8, "little")

    def string(self, address: int) -> bytes:
        content, at = self.find(address, 1, 4)
        return bytes(content[at : content.index(0, at)])

    def strings(self, address: int) -> list[bytes]:
        found: list[bytes] = []
        while self.word(address + 8 * len(found)):
            found.append(self.string(self.word(address + 8 * len(found))))
        return found


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@dataclass
class Processor:
    """Registers, flags and the place of the next instruction."""

    memory: Memory
    kernel: Kernel
    at: int
    regs: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(32), 0))
    carry: bool = False
    zero: bool = False

    def code(self, size: int) -> bytes:
        content, place = self.memory.find(self.at, size, 1)
        return bytes(content[place : place + size])

    def compare(self, one: int, other: int) -> None:
        self.carry, self.zero = one < other, one == other


def x86_with_memory(cpu: Processor) -> int:
    """A mov, cmp or cmove with [rbx + disp8]; the length of the instruction."""
    regs, form_at = cpu.regs, 3 if cpu.code(2)[1] == 0x0F else 2
    text = cpu.code(form_at + 1)
    kind, form = text[form_at - 1], text[form_at]
    assert text[0] in (0x48, 0x4C)
    assert form & 7 == 3
    assert form >> 6 in (0, 1)
    size = form_at + 1 + (form >> 6)
    value = cpu.memory.word(regs[3] + (signed(cpu.code(size)[-1], 8) if form >> 6 else 0))
    target = (form >> 3 & 7) + (8 if text[0] == 0x4C else 0)
    if kind == 0x3B:
        cpu.compare(regs[target], value)
    elif kind == 0x8B or cpu.zero:
        regs[target] = value
    assert kind in (0x3B, 0x8B, 0x44)
    return size


def x86_step(cpu: Processor) -> int:
    """One instruction; its length. rax 0, rcx 1, rdx 2, rbx 3, rsi 6, rdi 7, r10 10."""
    regs, code = cpu.regs, cpu.code
    if code(1)[0] == 0xBB:  # mov ebx, imm32
        regs[3] = int.from_bytes(code(5)[1:], "little")
        return 5
    if code(2) == b"\x0f\x05":  # syscall; the kernel destroys rcx
        regs[0] = cpu.kernel(regs[0], [regs[7], regs[6], regs[2], regs[10]], cpu.memory) & MASK
        regs[1] = 0xDEAD
        return 2
    if code(1)[0] in (0x73, 0xEB):  # jae, jmp
        return 2 + (signed(code(2)[1], 8) if code(1)[0] == 0xEB or not cpu.carry else 0)
    if code(2) == b"\x48\x3d":  # cmp rax, imm32
        cpu.compare(regs[0], signed(int.from_bytes(code(6)[2:], "little"), 32) & MASK)
        return 6
    if code(3) == b"\x48\x83\xc3":  # add rbx, imm8
        regs[3] += signed(code(4)[3], 8)
        return 4
    if code(3) == b"\x48\x89\xcb":  # mov rbx, rcx
        regs[3] = regs[1]
        return 3
    if code(2) == b"\x48\x89":  # mov [disp32], reg
        assert code(4)[3] == 0x25
        cpu.memory.store(int.from_bytes(code(8)[4:], "little"), regs[code(3)[2] >> 3 & 7])
        return 8
    return x86_with_memory(cpu)


def arm_jump(cpu: Processor, word: int) -> int:
    """How far to go: a jump, or to the next instruction."""
    if word >> 24 == 0b01010100:  # b.cs
        assert word & 31 == 2
        return 4 * signed(word >> 5, 19) if cpu.carry else 4
    if word >> 26 == 0b000101:  # b
        return 4 * signed(word, 26)
    raise AssertionError(f"unknown instruction {word:#x}")


def arm_data(cpu: Processor, word: int) -> int:
    """Arithmetic; anything else is a jump. Carry is set when a subtraction does not borrow."""
    regs, low, mid, high = cpu.regs, word & 31, word >> 5 & 31, word >> 16 & 31
    immediate = word >> 10 & 0xFFF
    if word >> 22 == 0b1011000100 and low == 31:  # cmn: adds to nowhere
        cpu.carry, cpu.zero = regs[mid] + immediate > MASK, regs[mid] + immediate == MASK + 1
    elif word >> 22 == 0b1001000100:  # add
        regs[low] = regs[mid] + immediate
    elif word >> 21 == 0b11101011000 and low == 31:  # cmp
        cpu.carry, cpu.zero = regs[mid] >= regs[high], regs[mid] == regs[high]
    elif word >> 21 == 0b10011010100 and word >> 10 & 0x3F == 0:  # csel on equal
        regs[low] = regs[mid] if cpu.zero else regs[high]
    else:
        return arm_jump(cpu, word)
    return 4


def arm_step(cpu: Processor) -> int:
    """One instruction; how far to go. Register 31 is zero."""
    word, regs, memory = int.from_bytes(cpu.code(4), "little"), cpu.regs, cpu.memory
    low, mid, shift = word & 31, word >> 5 & 31, 16 * (word >> 21 & 3)
    if word >> 23 == 0b110100101:  # movz
        regs[low] = (word >> 5 & 0xFFFF) << shift
    elif word >> 23 == 0b111100101:  # movk
        regs[low] = regs[low] & ~(0xFFFF << shift) | (word >> 5 & 0xFFFF) << shift
    elif word >> 22 in (0b1010100101, 0b1010100100):  # ldp, stp with an offset
        base, second = regs[mid] + 8 * signed(word >> 15, 7), word >> 10 & 31
        if word >> 22 & 1:
            regs[low], regs[second] = memory.word(base), memory.word(base + 8)
        else:
            memory.store(base, regs[low])
            memory.store(base + 8, regs[second])
    elif word >> 22 == 0b1111100101:  # ldr with an offset
        regs[low] = memory.word(regs[mid] + 8 * (word >> 10 & 0xFFF))
    elif word == 0xD4000001:  # svc 0
        regs[0] = cpu.kernel(regs[8], [regs[n] for n in range(4)], memory) & MASK
    else:
        return arm_data(cpu, word)
    return 4


STEP = {"x86_64": x86_step, "aarch64": arm_step}


class Ended(Exception):
    """The program made the call that ends it."""


def run(machine: Machine, program: bytes, kernel: Kernel) -> None:
    """Run a program to its end."""

    def answer(call: int, arguments: list[int], memory: Memory) -> int:
        if call == END:
            raise Ended
        return kernel(call, arguments, memory)

    memory = Memory.of(program)
    cpu = Processor(memory, answer, memory.entry)
    try:
        for _ in range(5000):
            cpu.at += STEP[machine](cpu)
    except Ended:
        return
    raise AssertionError("it does not end")


Answers = dict[int, list[int]]


def play(
    machine: Machine, known: list[SyscallStep], fresh: list[SyscallStep], answers: Answers
) -> list[int]:
    """Which calls are made, when the kernel answers as told and with 0 otherwise."""
    made: list[int] = []

    def kernel(call: int, arguments: list[int], memory: Memory) -> int:
        del arguments, memory
        made.append(call)
        return answers[call].pop(0) if answers.get(call) else 0

    run(machine, assemble(machine, tuple(known), fresh), kernel)
    return made


STOP = SyscallStep(END, (), -1)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, [1, 2, 3]),
        ({1: [4], 2: [MASK >> 1]}, [1, 2, 3]),  # any answer but the last 4095 is a success
        ({1: [-4096]}, [1, 2, 3]),
        ({1: [-4095]}, [1]),
        ({1: [-errno.EPERM]}, [1]),
        ({2: [-errno.ENOEXEC]}, [1, 2, 3]),
        ({2: [-errno.ENOENT]}, [1, 2, 1, 2, 3]),
        ({2: [-errno.ENOENT, -errno.ENOENT], 1: [0, 0, -1]}, [1, 2, 1, 2, 1]),
    ],
)
def test_steps_are_made_in_order_and_a_failure_goes_where_it_is_told(
    machine: Machine, answers: Answers, expected: list[int]
) -> None:
    steps = [
        SyscallStep(1, (), failed=-1),
        SyscallStep(2, (), failed=0, errno=errno.ENOEXEC, otherwise=2),
        SyscallStep(3, (), failed=-1),
        STOP,
    ]
    for cut in range(4):
        copy = {call: list(given) for call, given in answers.items()}
        assert play(machine, steps[:cut], steps[cut:], copy) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_arrive_as_numbers_as_addresses_and_as_arrays(machine: Machine) -> None:
    seen: list[object] = []

    def kernel(call: int, arguments: list[int], memory: Memory) -> int:
        del call
        number, text, array, negative = arguments
        seen.append((number, memory.string(text), memory.strings(array), signed(negative, 64)))
        return 0

    first = SyscallStep(1, (7, b"/usr\0", (b"sh", b"", b"x" * 5000), -100), failed=-1)
    second = SyscallStep(1, (1 << 40, b"y\0", (), 0), failed=-1)
    run(machine, assemble(machine, (first,), [second, STOP]), kernel)
    assert seen == [
        (7, b"/usr", [b"sh", b"", b"x" * 5000], -100),
        (1 << 40, b"y", [], 0),
    ]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_report_names_the_step_and_what_the_kernel_said(machine: Machine) -> None:
    notes: list[tuple[int, int]] = []

    def kernel(call: int, arguments: list[int], memory: Memory) -> int:
        if call == 2:
            content, at = memory.find(arguments[0], NOTE.size, 4)
            notes.append(NOTE.unpack_from(content, at))
        return -errno.EACCES if call == 3 else 0

    steps = [SyscallStep(1, (), -2), SyscallStep(3, (), -2), SyscallStep(2, (REPORT,), -1), STOP]
    run(machine, assemble(machine, (), steps), kernel)
    assert [(step_at(address), answer) for address, answer in notes] == [(1, -errno.EACCES)]
