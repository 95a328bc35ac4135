"""One kind of figure per module: its data from the model, and its drawing."""
