"""The comparison of two runs: whether they differ, by how much, and how sure the answer is."""
