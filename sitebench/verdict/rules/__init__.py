"""The rules of the verdict: one module per row of the paper's Tables 10, 11, 15 and 16."""
