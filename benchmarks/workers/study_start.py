"""The model of a study from its log: `python study_start.py FOLDER DATABASE`, prints seconds and megabytes as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from similitude.study.service import read_items
from similitude.study.settings import read_study
from similitude.study.store.database import Database
from similitude.study.worker import StudyWorker


def main(root: Path, url: str) -> dict[str, float]:
    study = read_study(root)
    begin, ready = time.perf_counter(), []
    worker = StudyWorker(study, list(read_items(study)), Database(url), "benchmark")
    fill = worker._fill

    def noted(**how: bool) -> None:
        """The first thing that a study does with a new model is to choose questions by it."""
        ready.append(time.perf_counter() - begin)
        fill(**how)

    worker._fill = noted
    worker.step()
    everything = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"model s": ready[0], "all s": everything, "CPU s": time.process_time(), "process MB": memory}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
