"""What is signed with the key of a database: raters' tokens, invitations, who must not be asked again, known devices.

The key is made once, and all servers of a database share it. Every use begins with a word of its own, so that nothing
that was signed for one can be shown for another; a study's name holds no NUL.
"""

from __future__ import annotations

import hmac
from functools import lru_cache

from similitude.study.refusal import unknown_rater

_LENGTH = 32  # hexadecimal digits: 128 bits
_REMEMBERED = 4096  # tokens of raters who take part now


class Keys:
    """The signatures of one study.

    Parameters
    ----------
    secret : the key of the database
    study : its name
    """

    def __init__(self, secret: bytes, study: str) -> None:
        self._secret, self._study = secret, study
        self._token = lru_cache(_REMEMBERED)(
            self._signed
        )  # compared with every request, and dear beside the rest of it

    def token(self, rater_id: int) -> str:
        """What a rater shows with every request."""
        return self._token(rater_id)

    def _signed(self, rater_id: int) -> str:
        return f"{rater_id}.{self._sign(f'{self._study} {rater_id}')}"

    def rater_of(self, token: str | None) -> int:
        """The rater that a token stands for; refused where it was not given out by us."""
        number, _, _ = (given := token or "").partition(".")
        if not (number.isascii() and number.isdecimal() and len(number) < 19):
            raise unknown_rater()
        if not _same(self.token(int(number)), given):
            raise unknown_rater()
        return int(number)

    def invitation(self, identity: str) -> str:
        """The part of a link that nobody can invent for a person."""
        return self._sign(f"invitation\0{self._study}\0{identity}")

    def is_invitation(self, identity: str, given: str) -> bool:
        """Whether a link was signed for this person."""
        return _same(self.invitation(identity), given)

    def rehearsal(self) -> str:
        """The part of a link by which a study by invitation is rehearsed."""
        return self._sign(f"rehearsal\0{self._study}")

    def is_rehearsal(self, given: str) -> bool:
        """Whether a link was signed for rehearsing."""
        return _same(self.rehearsal(), given)

    def tombstone(self, kind: str, who: str) -> str:
        """A person who was erased, told from others and known to nobody; `kind` is identity or uid."""
        return self._sign(f"erased\0{self._study}\0{kind}\0{who}")

    def _sign(self, text: str) -> str:
        return sign(self._secret, text)


def sign(secret: bytes, text: str) -> str:
    """The signature of a text."""
    return hmac.digest(secret, text.encode("utf-8", "replace"), "sha256").hex()[:_LENGTH]


def is_signed(secret: bytes, text: str, given: str) -> bool:
    """Whether a signature is that of a text."""
    return _same(sign(secret, text), given)


def _same(expected: str, given: str) -> bool:
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))
