"""`python -m similitude.cli` is `similitude`."""

from similitude.cli.commands import main

if __name__ == "__main__":
    main()
