"""Which question next: posterior of positions, scores of questions, strategies, replay, plans."""
