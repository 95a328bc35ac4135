"""Two runs held against each other: whether they differ, by how much, and how sure that is."""
