"""What a verdict on an approval is in words: here, and nowhere else."""

from silas.approval.models import Verdict


def verdict_words(verdict: Verdict, sentence: str = "{reason}") -> str:
    """Why nothing may be done under an approval; empty where it holds.

    Args:
        verdict: From the engine, an authority or a binding.
        sentence: What it stands in: `{reason}` is the reason as it was given, `{why}` the same as
            a part of a sentence, without its full stop.
    """
    if verdict:
        return ""
    said = {"{reason}": verdict.reason, "{why}": verdict.reason.rstrip(".")}
    place = next(name for name in said if name in sentence)
    return sentence.replace(place, said[place], 1)
