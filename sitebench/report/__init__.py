"""The report: one self-contained HTML file from one or more run files.

    load -> view -> sections (tables and charts) -> page

`page` and `charts` know nothing of run files, so that other pages (a comparison) use the same
parts.
"""
