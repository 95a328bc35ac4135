"""Write the files that are made from the definition."""

from ils_bench.schema import FILES, FOLDER, rendered

for kind in ("config", "389ds"):
    (FOLDER / FILES[kind]).write_text(rendered(kind))
