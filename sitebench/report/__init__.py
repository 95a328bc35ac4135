"""The report: a run file in, one HTML file out that needs nothing else to be read.

    load -> view -> sections (tables and charts) -> page

`page` and `charts` know nothing of run files, so that other pages (a comparison) are made of the
same parts.
"""
