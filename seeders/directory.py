"""People for a directory, as `sitebench ils seed` writes them.

python seeders/directory.py --to people.ldif --entries 1m
python seeders/directory.py --to ldap://127.0.0.1:389/ou=people,dc=example,dc=com --entries 10k
python seeders/directory.py --help
"""

import sys

from sitebench.__main__ import main

if __name__ == "__main__":
    sys.argv[1:1] = ["ils", "seed"]
    main()
