"""The similarity graph: pairs of items are its vertices, comparisons its edges."""
