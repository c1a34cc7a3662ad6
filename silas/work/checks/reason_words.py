"""Why a check passed or failed, for its owner to read: what models read of it stays English."""

from typing import Final

from silas.language import retranslate, tr_later
from silas.work.checks.runner_summary import NO_TESTS, UNFINISHED

REASONS: Final = (
    tr_later("exit code {got}, as expected"),
    tr_later("exit code {got}, expected {wanted}"),
    tr_later("output, as expected"),
    tr_later("output, expected to contain {wanted}"),
    tr_later("output, expected to match {wanted}"),
    tr_later("output {got}, as expected"),
    tr_later("output {got}, expected exactly {wanted}"),
    tr_later("output {got}, expected not to be empty"),
    tr_later("output {got} is not a number"),
    tr_later("file {got}, as expected"),
    tr_later("file {got}, expected to exist"),
    tr_later("{got}, as expected"),
    tr_later("{got}, expected less than {wanted}"),
    tr_later("{got}, expected more than {wanted}"),
    tr_later("Path outside permitted directories"),
    tr_later("No expectation"),
    tr_later("Ended by a signal"),
    tr_later("Ended at the CPU time limit of {seconds}s"),
    tr_later("Timeout after {seconds}s"),
    tr_later("Ended from outside"),
    tr_later("Ended at the limit on memory"),
    tr_later("Ended at the limit on processes"),
    tr_later("Ended at the limit on output"),
    NO_TESTS,
    UNFINISHED,
)
"""What `evaluate` and the verifier say; the first that fits."""


def reason_words(reason: str) -> str:
    """A check's reason in the owner's language.

    Args:
        reason: As the record has it, in English.
    """
    return retranslate(reason, REASONS)
