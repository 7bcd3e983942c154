"""One person's part in a study, as a recruiting service knows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Submission:
    """What a recruiting service knows of one person's part.

    Attributes
    ----------
    id : of the submission or assignment
    who : what the service calls the person
    status : in the service's word, such as AWAITING REVIEW
    started, completed : moments as the service writes them; None where there is none
    code : the completion code that was entered
    asked_back : when the person was asked to return it
    """

    id: str
    who: str
    status: str
    started: str | None = None
    completed: str | None = None
    code: str | None = None
    asked_back: str | None = None

    @property
    def waits(self) -> bool:
        """Whether it waits for a decision."""
        return self.status in ("AWAITING REVIEW", "Submitted")
