"""Every table and figure of the five papers: what became of it here, where that stands, or why it is not run.

States: "run" (on the paper's own data or a generated set like it), "substitute" (on other data, named), "picture" (an
illustration or a diagram: nothing to run), "not run" (with the reason).
"""

from __future__ import annotations

from dataclasses import dataclass

STATES = ("run", "substitute", "picture", "not run")
MCFEE, KLEINDESSNER, YEUNG, HEIM, OUYANG = (
    "McFee & Lanckriet 2011",
    "Kleindessner & von Luxburg 2017",
    "Yeung, Chang & Dai 2008",
    "Heim 2015",
    "Ouyang & Gray 2008",
)


@dataclass(frozen=True)
class Shown:
    """A table or figure of a paper; `page` is the results page that has it, or none."""

    paper: str
    number: str
    state: str
    page: str
    note: str

    def __post_init__(self) -> None:
        if self.state not in STATES or (self.state in ("run", "substitute")) != bool(self.page) or not self.note:
            raise ValueError(f"{self.paper}, {self.number}: expected a state, its page if it was run, and a note")


_ROWS = {
    MCFEE: [
        ("Fig. 1", "picture", "", "diagram of the framework"),
        ("Fig. 2", "picture", "", "graph of comparisons; drawn by `sm.plot`"),
        ("Table 1", "run", "taxonomy", "the classes of maps: `combination=`, `diagonal=` of MKPOE"),
        ("Fig. 3", "picture", "", "diagram of two ways to combine kernels"),
        ("Fig. 4", "substitute", "taxonomy", "a taxonomy over COIL-20; ALOI is not at hand"),
        ("Fig. 5", "substitute", "taxonomy", "COIL-20 instead of ALOI"),
        ("Fig. 6", "substitute", "music", "aset400's answers, kernels of tags; its audio and text are not public"),
        ("Fig. 7", "substitute", "music", "aset400's answers, kernels of tags; its audio and text are not public"),
        ("Fig. 8", "substitute", "music", "weights of tag kernels instead of audio and text"),
        ("Table 2", "substitute", "graph_processing_kpoe", "food100, where questions repeat; the public answers of "
         "aset400 are pruned already (9,090 of 16,385), so its first levels cannot be run: those left are in `music`"),
        ("Fig. 9", "substitute", "music", "t-SNE of MKPOE's map from tag kernels"),
        ("Fig. 10", "substitute", "music", "aset400's answers, a kernel of tags; food100 in `graph_processing`"),
        ("Fig. 11", "picture", "", "a square whose order needs two dimensions; `tests/graph` holds Algorithm 5"),
    ],
    KLEINDESSNER: [
        ("Fig. 1", "picture", "", "illustration; its Kendall's tau of 1/3 is a test of `ComparisonKernel`"),
        ("Fig. 2", "picture", "", "illustration of halfspaces"),
        ("Fig. 3", "run", "comparison_kernels", "(a): five generated sets, a tenth of all triplets"),
        ("Fig. 4", "run", "comparison_kernels", "(b), (c): food and car"),
        ("Fig. 5", "substitute", "comparison_kernels", "digits, since USPS is not at hand; (g): MNIST"),
        ("Fig. 6", "run", "comparison_kernels", "supplement: more generated sets, (a)"),
        ("Fig. 7", "substitute", "comparison_kernels", "supplement: k2 on digits, (d); USPS is not at hand"),
        ("Fig. 8", "substitute", "comparison_kernels", "supplement: MNIST by kernel PCA, (g); 3,000, not 20,000"),
        ("Fig. 9", "not run", "", "supplement: nature images, whose answers are not at hand"),
    ],
    YEUNG: [
        ("Fig. 1", "not run", "", "time: `python -m benchmarks labels` has it (linear in the number of items), "
            "a benchmark and no trials"),
        ("Fig. 2", "picture", "", "XOR before and after: `examples/plot_links.py`"),
        ("Table 1", "run", "spectral_kernel", "(a)"),
        ("Fig. 3", "run", "spectral_kernel", "(b): two of the digit sets, 500 pictures a digit instead of 2,000"),
        ("Table 2", "run", "spectral_kernel", "(c): Isolet and three of the nine digit sets"),
        ("Table 3", "run", "spectral_kernel", "(c): all four sets"),
        ("Table 4", "run", "spectral_kernel", "(e): a fifth of Isolet; 500 pictures a digit"),
        ("Fig. 4", "substitute", "spectral_kernel", "(d): four of its six tables; iris and seeds instead of Soybean "
         "(47 rows) and Protein, which are not at hand; LLMA left out, its settings are not given"),
    ],
    HEIM: [
        *((f"Fig. {k}", "picture", "", "diagram of feedback, queries or learning settings") for k in range(1, 7)),
        ("Algorithm 2, Theorem 2", "run", "sequential", "the thesis has no experiment of its own"),
        ("Fig. 7", "run", "auxiliary_kernels", "synthetic of eq. 4.15"),
        ("Fig. 8", "run", "auxiliary_kernels", "weights"),
        ("Fig. 9", "substitute", "music", "aset400, kernels of tags instead of five of audio and text; food100 in "
         "`auxiliary_kernels`"),
        ("Fig. 10", "picture", "", "plate diagram"),
        ("Fig. 11", "picture", "", "plate diagram"),
        ("Fig. 12", "run", "tackl", "250 items, ten trials"),
        ("Fig. 13", "run", "tackl", "the dishes with tastes, five trials"),
        ("Fig. 14", "picture", "", "a task as workers saw it"),
        ("Fig. 15", "run", "tackl", "zappos85, AlexNet features; again with ten candidates a head"),
        ("Fig. 16", "not run", "", "a picture of one map, with photographs of shoes, which are not at hand"),
        ("Fig. 17", "run", "online", "ten trials"),
        ("Fig. 18", "run", "online", "smaller: 1,000 points instead of 5,000; five trials"),
        ("Fig. 19", "run", "online", "aset400's 9,090 public answers, ten trials"),
        ("Fig. 20", "not run", "", "outdoor scenes: the answers are not public"),
        ("Table 1", "not run", "", "statistics of private clinical rows"),
        ("Table 2", "picture", "", "list of methods; all but Lasso stand in `camel`"),
        ("Fig. 21", "substitute", "camel", "public tables and a simulated expert; the clinical rows are private"),
        ("Table 3", "substitute", "camel", "public tables"),
        ("Fig. 22", "not run", "", "weights of clinical features, which are private; `sm.plot` draws such maps"),
        ("Fig. 23", "not run", "", "heat map of the same map over clinical features"),
    ],
    OUYANG: [
        *((f"Fig. {k}", "run", "dranking", "ten European cities; the paper names none") for k in range(1, 5)),
        ("Table 1", "picture", "", "N = n(n-1)/2 for some n: arithmetic"),
        ("Fig. 5", "run", "dranking", "109 largest US cities of GeoNames"),
        ("Fig. 6", "run", "dranking", "GNMDS on the chain"),
        ("Fig. 7", "not run", "", "GNMDS with a hard margin on 5,885 chained ranks: no feasible point within 50 s; "
            "the active sets that solve d-ranking's (Fig. 8) need a squared norm, and this is a trace over a cone"),
        ("Fig. 8", "run", "dranking", "d-ranking-VM on the chain"),
        ("Table 2", "run", "dranking", "seconds"),
        ("Fig. 9", "substitute", "dranking", "MNIST's 3 and 5 instead of USPS, which is not at hand"),
        ("Fig. 10", "substitute", "dranking", "ORL faces instead of UMist, which is not at hand"),
    ],
}  # fmt: skip

SHOWN = [Shown(paper, *row) for paper, rows in _ROWS.items() for row in rows]
