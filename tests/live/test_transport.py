"""Passwords on their way to real servers: who may have them, and over what."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Protocol

import pymysql
import pytest
from server.access.certificates import make_certificates, make_public_key

from live.conftest import Start, server_of_release
from live.engine import Record, Run, ask, phase, rounds, run
from live.mydyno_process import Workplace
from live.plugins import plugins
from mydyno.core.secrets import Secret
from mydyno.lab.stack import RunningServer, Setting, Site
from mydyno.server.access.client import REFUSED
from mydyno.server.access.login import Login
from mydyno.server.access.transport import Transport, transport

pytestmark = pytest.mark.live

StartRelease = Callable[[str], Start]
WORD = "a long word"
LONG = "日本 ñ " * 50


@pytest.fixture(scope="module")
def certificates(shared_site: Site) -> Path:
    folder = shared_site.lab / "certificates"
    folder.mkdir()
    make_certificates(folder)
    make_certificates(folder, "other")
    return folder


def tls(folder: Path) -> dict[str, str]:
    return {
        "ssl_ca": str(folder / "ca.pem"),
        "ssl_cert": str(folder / "ca-server.pem"),
        "ssl_key": str(folder / "ca-server-key.pem"),
    }


def do(server: RunningServer, *statements: str) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def over_tcp(server: RunningServer, protected: Transport, user: str = "bench") -> Login:
    return Login(user, Secret(WORD), host="127.0.0.1", port=server.port, transport=protected)


def cipher(login: Login) -> str:
    """Of the session; empty: not encrypted."""
    with login.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        row = cursor.fetchone()
        return "" if row is None else str(row[1])


def number(login: Login) -> int:
    """Of the error that connecting ends with."""
    with pytest.raises(pymysql.Error) as caught, closing(login.connect()):
        pass
    found = caught.value.args[0]
    assert isinstance(found, int)
    return found


class OfRelease(Protocol):
    def __call__(self, name: str, *, with_plugins: bool = False) -> RunningServer: ...


@pytest.fixture(scope="module")
def started(shared_site: Site, certificates: Path) -> Iterator[OfRelease]:
    """The server of a release that has a certificate, started once for all tests that want it."""
    config: dict[str, Setting] = {
        **tls(certificates),
        "max_allowed_packet": 64 * 2**20,
        "local_infile": True,
    }
    with ExitStack() as running:

        @cache
        def of_release(name: str, *, with_plugins: bool = False) -> RunningServer:
            added: dict[str, Setting] = {}
            if with_plugins:
                added["plugin_dir"] = str(shutil.copytree(plugins(name), certificates / f"plugins-{name}"))
            folder = shared_site.lab / f"transport-{name}{'-plugins' * with_plugins}"
            start = running.enter_context(server_of_release(shared_site, name, folder))
            server = start(config | added, port=0)
            if with_plugins:
                do(server, *(f"INSTALL SONAME '{plugin}'" for plugin in RELEASES[name].fetched))
            return server

        yield of_release


@pytest.fixture
def with_tls(started: OfRelease) -> Iterator[OfRelease]:
    """The same, without accounts and tables of another test."""
    used: list[RunningServer] = []

    def of_release(name: str, *, with_plugins: bool = False) -> RunningServer:
        used.append(started(name, with_plugins=with_plugins))
        return used[-1]

    yield of_release
    for server in used:
        # Those of the server itself are of localhost.
        made = ask(server, "SELECT user FROM mysql.user WHERE host = '%'")
        do(server, *(f"DROP USER {user}@'%'" for (user,) in made), "DROP DATABASE IF EXISTS mydyno")


@contextmanager
def setting(server: RunningServer, name: str, value: str) -> Iterator[None]:
    """The default again afterwards: other tests share the server."""
    do(server, f"SET GLOBAL {name} = {value}")
    try:
        yield
    finally:
        do(server, f"SET GLOBAL {name} = DEFAULT")


@pytest.fixture
def mysql(with_tls: OfRelease) -> RunningServer:
    server = with_tls("mysql-9.7")
    do(server, f"CREATE USER bench@'%' IDENTIFIED WITH caching_sha2_password BY '{WORD}'")
    do(server, "GRANT ALL ON *.* TO bench@'%'")
    return server


def test_caching_sha2_sends_the_password_to_a_server_that_was_verified_and_to_no_other(
    mysql: RunningServer, certificates: Path
) -> None:
    def forget() -> None:
        do(mysql, "FLUSH PRIVILEGES")  # Else the server remembers it, and takes a proof.

    plain, preferred, required = transport("DISABLED"), transport(), transport("REQUIRED")
    for unverified in (plain, preferred, required):
        assert number(over_tcp(mysql, unverified)) == REFUSED
    other = transport(ca=certificates / "other.pem")
    assert number(over_tcp(mysql, other)) == 2026

    verified = transport("VERIFY_IDENTITY", ca=certificates / "ca.pem")
    assert cipher(over_tcp(mysql, verified))
    # Now the server remembers: what proves the password is sent, and never the password.
    assert cipher(over_tcp(mysql, preferred))
    assert cipher(over_tcp(mysql, plain)) == ""

    forget()
    assert number(over_tcp(mysql, plain)) == REFUSED
    own_key = certificates / "key.pem"
    with mysql.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'Caching_sha2_password_rsa_public_key'")
        own_key.write_text(cursor.fetchall()[0][1])
    assert cipher(over_tcp(mysql, transport("DISABLED", public_key=own_key))) == ""
    forget()
    wrong_key = transport("DISABLED", public_key=make_public_key(certificates / "wrong.pem"))
    assert number(over_tcp(mysql, wrong_key)) == 1045
    with_key = replace(preferred, public_key=own_key.read_bytes())
    assert number(over_tcp(mysql, with_key)) == REFUSED, "over TLS the server wants the password itself"

    forget()
    assert cipher(Login("bench", Secret(WORD), socket=mysql.socket)) == ""


def test_sha256_password_goes_by_the_same_rules(mysql: RunningServer, certificates: Path) -> None:
    do(mysql, f"CREATE USER old@'%' IDENTIFIED WITH caching_sha2_password BY '{WORD}'")
    do(mysql, "CREATE USER nobody@'%' IDENTIFIED WITH caching_sha2_password BY ''")
    assert cipher(over_tcp(mysql, transport(ca=certificates / "ca.pem"), "old"))
    nobody = replace(over_tcp(mysql, transport("DISABLED"), "nobody"), password=Secret(""))
    assert cipher(nobody) == "", "an empty password is no secret"


Load = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def load(workplace: Workplace) -> Load:
    """`mydyno load` over TCP, of a moment."""
    (workplace.folder / "word").write_text(WORD)

    def load(server: RunningServer, *options: object) -> subprocess.CompletedProcess[str]:
        return workplace.run(
            *("load", "oltp-point-select", "--table-size", "100", "--host", "127.0.0.1", "--user", "bench"),
            *("--port", str(server.port), "--password-file", str(workplace.folder / "word")),
            *("--seconds", "0.3", "--connections", "3", *map(str, options)),
        )

    return load


def encrypted(server: RunningServer) -> int:
    """Connections that have begun TLS since the server was started."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Ssl_finished_accepts'")
        return int(cursor.fetchall()[0][1])


@pytest.mark.parametrize(
    "name",
    ["mysql-9.7", "mariadb-10.5", pytest.param("mariadb-10.11", marks=pytest.mark.slow), "mariadb-11.8"],
)
def test_a_load_is_encrypted_and_checks_whom_it_talks_to(
    name: str, with_tls: OfRelease, certificates: Path, load: Load
) -> None:
    server = with_tls(name)
    do(server, f"CREATE USER bench@'%' IDENTIFIED BY '{WORD}'", "GRANT ALL ON *.* TO bench@'%'")
    ca, other = certificates / "ca.pem", certificates / "other.pem"
    before = encrypted(server)
    wrong = load(server, "--ssl-ca", other)
    assert (wrong.returncode, "certificate" in wrong.stderr) == (4, True), wrong.stderr
    assert encrypted(server) == before or name.startswith("mysql-9")
    for options in (
        ("--ssl-ca", ca),
        ("--ssl-ca", ca, "--ssl-mode", "VERIFY_IDENTITY"),
        ("--ssl-mode", "REQUIRED"),
    ):
        before = encrypted(server)
        done = load(server, *options)
        assert done.returncode == 0, done.stderr
        assert encrypted(server) >= before + 4, "three connections of the load, and others"
    before = encrypted(server)
    assert load(server, "--ssl-mode", "DISABLED").returncode == 0
    assert encrypted(server) == before


def test_a_server_with_an_old_tls_is_loaded_without_it_where_none_is_required(
    start_release: StartRelease, certificates: Path, load: Load
) -> None:
    server = start_release("mysql-5.6")(dict(tls(certificates)), port=0)
    do(server, f"CREATE USER bench@'%' IDENTIFIED BY '{WORD}'", "GRANT ALL ON *.* TO bench@'%'")
    refused = load(server, "--ssl-ca", certificates / "ca.pem")
    assert (refused.returncode, "TLS before 1.2 is not supported" in refused.stderr) == (4, True), (
        refused.stderr
    )
    done = load(server)
    assert done.returncode == 0, done.stderr


def test_an_account_that_needs_a_certificate_is_loaded_with_one(
    start: Start, certificates: Path, load: Load
) -> None:
    server = start(dict(tls(certificates)), port=0)
    do(server, f"CREATE USER bench@'%' IDENTIFIED BY '{WORD}' REQUIRE X509", "GRANT ALL ON *.* TO bench@'%'")
    ca, cert, key = (certificates / f"ca{end}.pem" for end in ("", "-client", "-client-key"))
    without = load(server, "--ssl-ca", ca)
    assert (without.returncode, "denied" in without.stderr) == (4, True), without.stderr
    done = load(server, "--ssl-ca", ca, "--ssl-cert", cert, "--ssl-key", key)
    assert done.returncode == 0, done.stderr


def test_a_load_says_how_a_password_gets_to_a_server_that_wants_all_of_it(
    mysql: RunningServer, certificates: Path, load: Load
) -> None:
    refused = load(mysql)
    assert refused.returncode == 4
    assert "caching_sha2_password needs the whole password" in refused.stderr
    assert "--ssl-ca" in refused.stderr
    done = load(mysql, "--ssl-ca", certificates / "ca.pem")
    assert done.returncode == 0, done.stderr
    with setting(mysql, "require_secure_transport", "ON"):
        refused = load(mysql, "--ssl-mode", "DISABLED")
    assert refused.returncode == 4
    assert "error 3159" in refused.stderr
    assert "--ssl-mode REQUIRED" in refused.stderr


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8"])
def test_a_mariadb_that_wants_tls_has_it_and_its_certificate_is_checked(
    name: str, with_tls: OfRelease, certificates: Path
) -> None:
    server = with_tls(name)
    do(server, f"CREATE USER bench@'%' IDENTIFIED BY '{WORD}'")
    do(server, f"CREATE USER guarded@'%' IDENTIFIED BY '{WORD}' REQUIRE SSL")
    assert cipher(over_tcp(server, transport("DISABLED"))) == ""
    assert cipher(over_tcp(server, transport()))
    assert cipher(over_tcp(server, transport("VERIFY_IDENTITY", ca=certificates / "ca.pem")))
    assert number(over_tcp(server, transport(ca=certificates / "other.pem"))) == 2026
    assert number(over_tcp(server, transport("DISABLED"), "guarded")) == 1045
    with setting(server, "require_secure_transport", "ON"):
        assert cipher(over_tcp(server, transport("REQUIRED"), "guarded"))
        assert number(over_tcp(server, transport("DISABLED"))) in (1045, 3159)


def test_ed25519_of_mariadb_proves_a_password_over_any_connection(start: Start, certificates: Path) -> None:
    server = start(dict(tls(certificates)), port=0)
    try:
        do(server, "INSTALL SONAME 'auth_ed25519'")
    except pymysql.Error as error:
        pytest.skip(f"this server has no plugin ed25519: {error.args[1]}")
    do(server, f"CREATE USER bench@'%' IDENTIFIED VIA ed25519 USING PASSWORD('{WORD}')")
    assert cipher(over_tcp(server, transport("DISABLED"))) == ""
    assert cipher(over_tcp(server, transport(ca=certificates / "ca.pem")))
    wrong = replace(over_tcp(server, transport()), password=Secret("another word"))
    assert number(wrong) == 1045


def test_parsec_of_mariadb_proves_a_password_over_any_connection(
    with_tls: OfRelease, certificates: Path
) -> None:
    server = with_tls("mariadb-11.8", with_plugins=True)
    for user, word in (("bench", WORD), ("empty", ""), ("wordy", LONG)):
        do(server, f"CREATE USER {user}@'%' IDENTIFIED VIA parsec USING PASSWORD('{word}')")
    assert cipher(over_tcp(server, transport("DISABLED"))) == ""
    assert cipher(over_tcp(server, transport(ca=certificates / "ca.pem")))
    assert cipher(Login("bench", Secret(WORD), socket=server.socket)) == ""
    for user, word in (("empty", ""), ("wordy", LONG)):
        assert cipher(replace(over_tcp(server, transport("DISABLED"), user), password=Secret(word))) == ""
        wrong = replace(over_tcp(server, transport("DISABLED"), user), password=Secret(f"{word}x"))
        assert number(wrong) == 1045
    for _ in range(300):  # One in 256 random numbers ends with a zero byte.
        over_tcp(server, transport("DISABLED")).connect().close()


def sends(*statements: str, prepared: bool = False) -> Record:
    """A program whose only transaction sends these; each is named after its place."""
    steps = [{"send": {"name": str(place), "sql": [sql]}} for place, sql in enumerate(statements)]
    transactions = [{"name": "all", "steps": steps}]
    return {"program": {"name": "statements", "prepared": prepared, "transactions": transactions}}


def engine(server: RunningServer, workload: Record, user: str, **target: object) -> Run:
    """Two connections of an account, each of which runs the transaction."""
    place: Record = {"host": "127.0.0.1", "port": server.port}
    if target.pop("local", False):
        place = {"socket": str(server.socket)}
    account = {"user": user, "password": WORD, "database": "information_schema"}
    return run(
        {
            "protocol": 3,
            "target": {**place, **account, **target},
            "workload": workload,
            "phases": [phase(2, rounds(1))],
        }
    )


def returned(done: Run) -> list[int]:
    """Rows of each statement in one transaction."""
    assert done.exit_code == 0, done.text
    [end] = done.of("phase_end")
    assert not end["errors"], end
    return [one["rows"] / one["count"] for _, one in sorted(end["statements"].items())]


SESSION = sends(
    "SHOW SESSION STATUS WHERE Variable_name = 'Ssl_cipher' AND Value <> ''",
    "SHOW SESSION STATUS WHERE Variable_name = 'Compression' AND Value = 'ON'",
)
ZLIB = {"algorithms": ["zlib"]}
ZSTD = {"algorithms": ["zstd"], "zstd_level": 7}


@dataclass(frozen=True)
class Offer:
    """What a release has; the plugins in `fetched` are in a package of their own."""

    accounts: dict[str, str]
    """Account -> its plugin and password."""
    has_zstd: bool = False
    has_tls: bool = True
    fetched: tuple[str, ...] = ()


_NATIVE = {"native": f"IDENTIFIED BY '{WORD}'"}
_ED25519 = {"ed25519": f"IDENTIFIED VIA ed25519 USING PASSWORD('{WORD}')"}
_PARSEC = {"parsec": f"IDENTIFIED VIA parsec USING PASSWORD('{WORD}')"}
_SHA2 = {"sha2": f"IDENTIFIED WITH caching_sha2_password BY '{WORD}'"}
RELEASES = {
    "mysql-5.6": Offer(_NATIVE, has_tls=False),
    "mysql-9.7": Offer(_SHA2, has_zstd=True),
    "mariadb-10.5": Offer(_NATIVE | _ED25519, fetched=("auth_ed25519",)),
    "mariadb-10.11": Offer(_NATIVE | _ED25519, fetched=("auth_ed25519",)),
    "mariadb-11.8": Offer(_NATIVE | _ED25519 | _PARSEC, fetched=("auth_ed25519", "auth_parsec")),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("mysql-9.7", "mariadb-11.8") else pytest.mark.slow)
        for name in RELEASES
    ],
)
def test_every_transport_takes_every_authentication_and_compression(
    name: str, with_tls: OfRelease, certificates: Path
) -> None:
    offer = RELEASES[name]
    server = with_tls(name, with_plugins=bool(offer.fetched))
    for user, identified in offer.accounts.items():
        do(server, f"CREATE USER {user}@'%' {identified}", f"GRANT ALL ON *.* TO {user}@'%'")
    verified = {"mode": "verify-identity", "ca": str(certificates / "ca.pem")}
    transports: dict[str, tuple[Record, int]] = {"socket": ({"local": True}, 0), "tcp": ({}, 0)}
    if offer.has_tls:
        transports["tls"] = ({"tls": verified}, 1)
        transports["socket-tls"] = ({"local": True, "tls": {**verified, "mode": "verify-ca"}}, 1)
    if "sha2" in offer.accounts:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW STATUS LIKE 'Caching_sha2_password_rsa_public_key'")
            transports["tcp"][0]["server_public_key"] = cursor.fetchall()[0][1]
    compressions: list[tuple[Record | None, int]] = [(None, 0), (ZLIB, 1)]
    if offer.has_zstd:
        compressions.append((ZSTD, 1))

    def check(cell: tuple[str, str, Record | None, int]) -> None:
        user, way, compression, is_compressed = cell
        target, is_encrypted = transports[way]
        if user == "sha2":
            do(server, "FLUSH PRIVILEGES")  # Else the server remembers the password.
        done = engine(server, SESSION, user, compression=compression, **target)
        assert returned(done) == [is_encrypted, is_compressed], cell
        if not is_compressed:
            wrong = engine(server, SESSION, user, **{**target, "password": "another word"})
            assert "error 1045" in wrong.the("fatal")["message"], cell

    cells = [
        (user, way, *compression)
        for user in offer.accounts
        for way in transports
        for compression in compressions
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(check, cells))


@pytest.mark.parametrize("name", [pytest.param("mysql-9.7", marks=pytest.mark.slow), "mariadb-11.8"])
def test_long_and_many_packets_go_compressed(name: str, with_tls: OfRelease, certificates: Path) -> None:
    server = with_tls(name)
    [(user, identified)] = [*RELEASES[name].accounts.items()][:1]
    do(server, f"CREATE USER {user}@'%' {identified}", f"GRANT ALL ON *.* TO {user}@'%'")
    text = "0123456789abcdef" * (17 * 2**20 // 16)
    rows = " UNION ALL ".join(["SELECT REPEAT('y', 30000)"] * 200)
    noise = " ".join(["SELECT", *(f"RANDOM_BYTES(1024), SHA2({number}, 256)," for number in range(200)), "1"])
    statements = (
        f"SELECT 1 FROM (SELECT '{text}' AS word) AS words WHERE LENGTH(word) = {len(text)}",
        "SELECT 1 FROM (SELECT REPEAT('x', 17000000) AS word) AS words WHERE LENGTH(word) = 17000000",
        "SELECT REPEAT('z', 17000000)",
        rows,
        noise,
    )
    encrypted = {"mode": "verify-ca", "ca": str(certificates / "ca.pem")}
    ways = [ZLIB, *([ZSTD] if RELEASES[name].has_zstd else [])]
    for compression in ways:
        for prepared, target in ((False, {"tls": encrypted}), (True, {"local": True})):
            workload = sends(*statements, prepared=prepared)
            done = engine(server, workload, user, compression=compression, **target)
            assert returned(done) == [1, 1, 1, 200, 1], (compression, prepared, target)


def test_a_load_is_compressed_as_the_mysql_clients_do_it(
    mysql: RunningServer, certificates: Path, load: Load
) -> None:
    def sent() -> tuple[int, int]:
        """Bytes that the server has received and sent."""
        status = mysql.status()
        return int(status["Bytes_received"]), int(status["Bytes_sent"])

    def bytes_of(*options: str) -> int:
        before = sent()
        fixed = ("--table-size", "20000", "--rounds", "300", "--prepare", "create")
        done = load(mysql, "--ssl-ca", certificates / "ca.pem", *fixed, *options)
        assert done.returncode == 0, done.stderr
        return sent()[0] - before[0]

    plain = bytes_of()
    for algorithms in ("zlib", "zstd", "zstd,zlib,uncompressed"):
        assert bytes_of("--compression-algorithms", algorithms) < 0.8 * plain, algorithms
    assert bytes_of("--compression-algorithms", "uncompressed") > 0.9 * plain
    with setting(mysql, "protocol_compression_algorithms", "'zlib,uncompressed'"):
        refused = load(mysql, "--compression-algorithms", "zstd")
        assert refused.returncode == 4
        assert "the server does not offer compression with zstd" in refused.stderr
        assert "--compression-algorithms" in refused.stderr.partition("hint")[2]
        either = ("--compression-algorithms", "zstd,uncompressed")
        done = load(mysql, "--ssl-ca", certificates / "ca.pem", *either)
        assert done.returncode == 0, done.stderr


def test_a_certificate_without_an_alternative_name_is_explained(
    start: Start, certificates: Path, load: Load
) -> None:
    nameless = {**tls(certificates), "ssl_cert": str(certificates / "ca-nameless.pem")}
    nameless["ssl_key"] = str(certificates / "ca-nameless-key.pem")
    server = start(nameless, port=0)
    do(server, f"CREATE USER bench@'%' IDENTIFIED BY '{WORD}'", "GRANT ALL ON *.* TO bench@'%'")
    ca = certificates / "ca.pem"
    refused = load(server, "--ssl-ca", ca, "--ssl-mode", "VERIFY_IDENTITY")
    assert refused.returncode == 4
    assert "has no subject alternative name" in refused.stderr
    assert "subjectAltName = IP:127.0.0.1" in refused.stderr
    assert load(server, "--ssl-ca", ca, "--ssl-mode", "VERIFY_CA").returncode == 0


@pytest.mark.parametrize(("name", "algorithm"), [("mysql-9.7", "zstd"), ("mariadb-11.8", "zlib")])
def test_tables_are_loaded_over_compressed_connections(
    name: str, algorithm: str, with_tls: OfRelease, certificates: Path, load: Load
) -> None:
    server = with_tls(name)
    do(server, f"CREATE USER bench@'%' IDENTIFIED BY '{WORD}'", "GRANT ALL ON *.* TO bench@'%'")
    sums = set()
    for options in ((), ("--compression-algorithms", algorithm)):
        options = ("--ssl-ca", certificates / "ca.pem", "--table-size", "100000", *options)
        before = int(server.status()["Com_load"])
        done = load(server, *options, "--prepare", "create")
        assert done.returncode == 0, done.stderr
        assert int(server.status()["Com_load"]) > before, "by LOAD DATA LOCAL"
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CHECKSUM TABLE mydyno.sbtest1")
            sums.add(cursor.fetchall()[0][1])
    assert len(sums) == 1, "the same rows"
