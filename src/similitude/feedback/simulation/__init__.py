"""Simulated raters: `simulate` asks, `raters` says who they are, `behaviour` how they answer, `truth` what they see."""
