"""Makes what the first release wrote: run once, with the code of 0.1.0, `python -m tests.study.old.make`.

A study of colours with raters, answers, a model, an invitation, an admin and a rater who was erased; as a SQLite file
and as a dump of PostgreSQL, both compressed. `test_upgrade.py` opens them with the code of today.
"""

from __future__ import annotations

import gzip
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from argon2 import PasswordHasher
from benchmarks.postgresql import PostgreSQL, program

from similitude.study.invite import invite
from similitude.study.maintenance.erase import erase_rater
from similitude.study.web.auth import Door
from tests.study.live import answer, join, open_study, worker_of, write_study

HERE = Path(__file__).parent
PASSWORD = "a long password"


def fill(folder: Path, url: str) -> None:
    """What happens in a study."""
    site, service = open_study(write_study(folder), url)
    rng = np.random.default_rng(0)
    for number in range(4):
        rater = join(service, rater=f"person{number}")
        answer(service, rater, 10, rng)
    worker_of(service).step()
    answer(service, join(service, rater="leaves"), 3, rng)
    invite(service, ["later"])
    door = Door(site.database, hasher=PasswordHasher(time_cost=1, memory_cost=64))
    door.use_link(door.make_link().rsplit("/", 1)[1], "ada", PASSWORD)
    erase_rater(site.database, "colours", "leaves", by_identity=True)
    site.close()


def main() -> None:
    """Write both files."""
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "old.db"
        fill(Path(made) / "colours", f"sqlite:///{file}")
        (HERE / "0.1.0.db.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        server = PostgreSQL()
        try:
            url = server.fresh()
            fill(Path(made) / "colours", url)
            command = [program("pg_dump"), "--no-owner", "--no-privileges", "--inserts", url]
            dump = subprocess.run(command, check=True, capture_output=True).stdout
        finally:
            server.stop()
        (HERE / "0.1.0.sql.gz").write_bytes(gzip.compress(dump, mtime=0))


if __name__ == "__main__":
    main()
