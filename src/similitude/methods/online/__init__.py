"""Learning while people answer: `ERKLE` (the thesis' kernel method) and `OnlineEmbedding` (for live use)."""
