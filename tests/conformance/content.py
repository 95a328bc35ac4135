"""The servers' initial entries."""

# Entries of both servers before a test begins.
SKELETON = """\
dn: o=Intranet
objectClass: organization
o: Intranet

dn: ou=Dynamic,o=Intranet
objectClass: organizationalUnit
ou: Dynamic

dn: ou=Scratch,o=Intranet
objectClass: organizationalUnit
ou: Scratch
"""

# Searched by many tests, changed by none.
OFFICE = """\
dn: ou=Office,o=Intranet
objectClass: organizationalUnit
ou: Office

dn: cn=Ada Lovelace,ou=Office,o=Intranet
objectClass: inetOrgPerson
cn: Ada Lovelace
sn: Lovelace
givenName: Ada
mail: ada@example.com
telephoneNumber: +44 20 7946 0001
description: wrote the first program
description: counts in her sleep
employeeNumber: 10
userPassword: engine

dn: cn=Grace Hopper,ou=Office,o=Intranet
objectClass: inetOrgPerson
cn: Grace Hopper
cn: Amazing Grace
sn: Hopper
givenName: Grace
mail: grace@example.com
description: found the bug
employeeNumber: 9
seeAlso: cn=Ada Lovelace,ou=Office,o=Intranet

dn: cn=Юрий Кнорозов,ou=Office,o=Intranet
objectClass: inetOrgPerson
cn: Юрий Кнорозов
sn: Кнорозов
givenName: Юрий
mail: yuri@example.com

dn: cn=加藤 登紀子,ou=Office,o=Intranet
objectClass: inetOrgPerson
cn: 加藤 登紀子
sn: 加藤
givenName: 登紀子

dn: cn=O'Brien\\, Jr.,ou=Office,o=Intranet
objectClass: inetOrgPerson
cn: O'Brien, Jr.
sn: O'Brien
description: star * paren ( backslash \\ done )

dn: ou=Basement,ou=Office,o=Intranet
objectClass: organizationalUnit
ou: Basement

dn: cn=Ada Basement,ou=Basement,ou=Office,o=Intranet
objectClass: inetOrgPerson
cn: Ada Basement
sn: Basement
givenName: Ada
"""

OFFICE_BASE = "ou=Office,o=Intranet"
