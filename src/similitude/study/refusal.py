"""What a rater is told who asks for something that cannot be granted."""

from __future__ import annotations


class Refused(ValueError):
    """A request that cannot be granted.

    Attributes
    ----------
    status : of HTTP
    code : one word for programs
    wait : seconds after which the same may be asked again; None where waiting does not help
    """

    def __init__(self, status: int, code: str, sentence: str, wait: float | None = None) -> None:
        super().__init__(sentence)
        self.status, self.code, self.wait = status, code, wait


def unknown_rater() -> Refused:
    """Nobody whom this study knows."""
    return Refused(401, "unknown_rater", "This page does not know you; open the study's link again.")


def withdrawn_rater() -> Refused:
    """Somebody whose invitation was taken back after they had begun."""
    return Refused(410, "withdrawn", "Your invitation was withdrawn; no more answers are taken.")


def withdrawn_question() -> Refused:
    """A question that can be read no longer as it was meant."""
    return Refused(409, "withdrawn", "This question was withdrawn: the study was changed.")


def study_is_full() -> Refused:
    """There is no place for anybody else."""
    return Refused(403, "full", "This study has all the people it needs. Thank you for coming.")


def displaced_rater() -> Refused:
    """Somebody who was away for so long that the place went to another, who needs it now."""
    return Refused(410, "displaced", "Your place was given to somebody else; no more answers are taken.")


def erased_rater() -> Refused:
    """Somebody whose answers were erased, as they asked."""
    return Refused(410, "erased", "Your answers were erased, as you asked; you take part no longer.")
