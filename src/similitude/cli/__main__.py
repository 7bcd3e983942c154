"""`python -m similitude.cli` is `similitude`."""

from similitude.cli.commands import main

main()
