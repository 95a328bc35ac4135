"""Tables 4 to 9 of the paper, as printed.

"Performance Analysis and Capacity Planning for Microsoft Site Server on Compaq ProLiant Servers",
Compaq, September 1997, pages 9 and 10. The ProLiant 7000 has two processors, P0 and P1; here
their utilization is "P0 / P1". Operations per second are those of `ils_bench.paper.tables`.
"""

from __future__ import annotations

TABLES_1997: dict[str, dict[str, tuple[str, dict[str, tuple[str, str, str, str]]]]] = {
    "connect": {
        "ProLiant 2500": (
            "Table 4",
            {
                "CPU Utilization": ("100%", "99.9%", "99.1%", "98.6%"),
                "Bytes sent/sec": ("10 KB", "10 KB", "9 KB", "9 KB"),
                "Bytes received/sec": ("16 KB", "17 KB", "15 KB", "15 KB"),
                "Available memory": ("1.0 MB", "1.0 MB", "1.8 MB", "0.6 MB"),
            },
        ),
        "ProLiant 7000": (
            "Table 7",
            {
                "CPU Utilization": (
                    "99.9 / 99.9%",
                    "92.3 / 93.3%",
                    "99.9 / 99.9%",
                    "99.9 / 99.9%",
                ),
                "Bytes sent/sec": ("16 KB", "15 KB", "16 KB", "16 KB"),
                "Bytes received/sec": ("26 KB", "25 KB", "27 KB", "26 KB"),
                "Available memory": ("48.2 MB", "50.3 MB", "37.3 MB", "38.3 MB"),
            },
        ),
    },
    "add": {
        "ProLiant 2500": (
            "Table 5",
            {
                "CPU Utilization": ("100%", "100%", "100%", "100%"),
                "Bytes sent/sec": ("33 KB", "33 KB", "33 KB", "34 KB"),
                "Bytes received/sec": ("103 KB", "91 KB", "106 KB", "93 KB"),
                "Available memory": ("65 MB", "68 MB", "65 MB", "67 MB"),
            },
        ),
        "ProLiant 7000": (
            "Table 8",
            {
                "CPU Utilization": (
                    "97.8 / 99.7%",
                    "99.0 / 98.7%",
                    "98.0 / 98.3%",
                    "76.1 / 75.8%",
                ),
                "Bytes sent/sec": ("73 KB", "72 KB", "73 KB", "55 KB"),
                "Bytes received/sec": ("161 KB", "171 KB", "168 KB", "119 KB"),
                "Available memory": ("192 MB", "194 MB", "186 MB", "187 MB"),
            },
        ),
    },
    "lookup": {
        "ProLiant 2500": (
            "Table 6",
            {
                "CPU Utilization": ("97.7%", "97.5%", "97.6%", "97.9%"),
                "Bytes sent/sec": ("1.2 MB", "1.1 MB", "1.1 MB", "1.1 MB"),
                "Bytes received/sec": ("97 KB", "96 KB", "95 KB", "94 KB"),
                "Available memory": ("22.8 MB", "30 MB", "50.1 MB", "2.0 MB"),
            },
        ),
        "ProLiant 7000": (
            "Table 9",
            {
                "CPU Utilization": (
                    "97.6 / 97.4%",
                    "96.7 / 96.7%",
                    "97.2 / 97.2%",
                    "96.6 / 96.6%",
                ),
                "Bytes sent/sec": ("1.9 MB", "1.9 MB", "1.9 MB", "1.9 MB"),
                "Bytes received/sec": ("160 KB", "161 KB", "160 KB", "157 KB"),
                "Available memory": ("115 MB", "114 MB", "115 MB", "112 MB"),
            },
        ),
    },
}
"""By operation and machine: the table, and its rows over `SIZES_1997`."""
