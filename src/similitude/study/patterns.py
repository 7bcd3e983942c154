"""What texts of `study.toml` must look like, each with the words that say it to who wrote another."""

from __future__ import annotations

NAME = r"^[a-z][a-z0-9_-]{0,40}$"
COLUMN = r"^[a-z][a-z0-9_]*$"
COLOUR = r"^#[0-9a-fA-F]{6}$"
ADDRESS = r"^https?://"
ORIGIN = r"^(\*|https?://[a-z0-9.-]+(:[0-9]{1,5})?)$"  # as browsers send it
ANCESTOR = r"^https?://(\*\.)?[a-z0-9.-]+(:[0-9]{1,5})?$"

WORDS = {
    NAME: "a small letter, then up to 40 small letters, digits, - and _",
    COLUMN: "a small letter, then small letters, digits and _",
    COLOUR: "a colour such as #8a8a8a",
    ADDRESS: "an address that begins with https:// or http://",
    ORIGIN: "a site such as https://lab.example without a path, or *",
    ANCESTOR: "a site such as https://lab.example or https://*.lab.example, without a path",
}
