"""The user-property database of a personalized site, as `sitebench ps seed` writes it.

python seeders/database.py people.sqlite --entries 1m
python seeders/database.py --help
"""

import sys

from sitebench.__main__ import main

if __name__ == "__main__":
    sys.argv[1:1] = ["ps", "seed"]
    main()
