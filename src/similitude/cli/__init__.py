"""The command line `similitude`."""

from similitude.cli import asking as asking
from similitude.cli import comparing as comparing
from similitude.cli import dimensions as dimensions
from similitude.cli import exporting as exporting
from similitude.cli import fitting as fitting
from similitude.cli import learn as learn
from similitude.cli import serving as serving
from similitude.cli import study as study
from similitude.cli import study_maintenance as study_maintenance
from similitude.cli import study_people as study_people
from similitude.cli import study_raters as study_raters
from similitude.cli import study_recruiting as study_recruiting
from similitude.cli import study_states as study_states
from similitude.cli import study_tokens as study_tokens
from similitude.cli.commands import app, main

__all__ = ["app", "main"]
