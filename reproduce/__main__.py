"""Run all experiments and write the table of claims: `python -m reproduce`; with `--summary` the table alone."""

from __future__ import annotations

import subprocess
import sys

from reproduce.summary import HERE, RESULTS, write_summary


def main(arguments: list[str]) -> None:
    """Run every script that has a results page, one after the other, then summarise."""
    if arguments not in ([], ["--summary"]):
        sys.exit(f"expected nothing or --summary, found {' '.join(arguments)}")
    if not arguments:
        for script in sorted(path.stem for path in RESULTS.glob("*.md")):
            print(f"reproduce.{script}", flush=True)
            subprocess.run([sys.executable, "-m", f"reproduce.{script}"], check=True, cwd=HERE.parent)
    pages = write_summary()
    print(f"{HERE / 'README.md'}: {sum(len(page.claims) for page in pages)} claims of {len(pages)} pages")


if __name__ == "__main__":
    main(sys.argv[1:])
