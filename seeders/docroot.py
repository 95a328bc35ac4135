"""The files that a web server serves, as `sitebench web seed` writes them.

python seeders/docroot.py --set large-filemix --files-per-class 200 --to docroot/
python seeders/docroot.py --help
"""

import sys

from sitebench.__main__ import main

if __name__ == "__main__":
    sys.argv[1:1] = ["web", "seed"]
    main()
