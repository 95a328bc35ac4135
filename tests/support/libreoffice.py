"""A headless LibreOffice with a new profile, which recalculates opened workbooks."""

from collections.abc import Sequence
from pathlib import Path

from tests.support.programs import run_program

# 0 is "always": by default it trusts the values stored in a workbook of Excel.
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"
 xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode"
 oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""


class LibreOffice:
    """Opens workbooks and writes them again."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        user = folder / "profile" / "user"
        user.mkdir(parents=True)
        (user / "registrymodifications.xcu").write_text(SETTINGS)

    def recalculated(self, paths: Sequence[Path]) -> list[Path]:
        """Recompute every cell of some workbooks; return the paths of the new ones."""
        out = self._folder / "recalculated"
        done = run_program(
            [
                *(str(self._program), "--headless", "--norestore"),
                f"-env:UserInstallation={(self._folder / 'profile').as_uri()}",
                *("--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", str(out)),
                *map(str, paths),
            ]
        )
        found = [out / path.name for path in paths]
        assert all(path.exists() for path in found), done.stdout + done.stderr
        return found
