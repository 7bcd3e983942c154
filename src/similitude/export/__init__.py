"""Out to where it runs: what was learned, and what was said, as the files of other tools.

| for | call | writes |
|---|---|---|
| TensorBoard's projector | `write_projector(similarity, folder)` | positions, names and attributes of the items |
| any runtime of ONNX | `write_onnx(similarity, path)` | the linear map from vectors to positions |
| faiss, hnswlib, Annoy | `build_index(similarity, library)`, `write_index` | an index of the items |
| sentence-transformers | `write_triplets(comparisons, path, texts)` | `.jsonl` or `.csv`: anchor, positive, negative |

Tables for spreadsheets, R and rsatoolbox are written by `Similarity.write_table`.

Examples
--------
>>> import pathlib, tempfile, similitude as sm
>>> c = sm.Comparisons.from_triplets([("cat", "dog", "bus")])
>>> with tempfile.TemporaryDirectory() as folder:
...     sm.export.write_triplets(c, pathlib.Path(folder, "said.jsonl"))
...     print(pathlib.Path(folder, "said.jsonl").read_text("utf-8"), end="")
{"anchor": "cat", "positive": "dog", "negative": "bus"}
"""

from similitude.export.indexes import build_index, write_index
from similitude.export.onnx import write_onnx
from similitude.export.projector import write_projector
from similitude.export.triplets import write_triplets

__all__ = ["build_index", "write_index", "write_onnx", "write_projector", "write_triplets"]
