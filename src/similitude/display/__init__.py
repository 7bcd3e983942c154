"""What a notebook shows of a result: cards of figures and maps, every text escaped."""
