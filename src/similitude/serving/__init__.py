"""A model behind HTTP: `similitude serve model.sim`, with the web stack of the study server."""
