"""What the options of a login mean for its protection, and which of them contradict each other."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from mydyno.cli.login_options import LoadLogin, LoginOptions
from mydyno.core.errors import UsageError
from mydyno.core.secrets import Secret
from mydyno.lab.spec import External
from mydyno.server.access.login import Login, login_of
from mydyno.server.access.transport import Compression, SslMode, Transport, compression, transport
from server.access.certificates import make_certificates, make_public_key


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    make_public_key(folder / "key.pem")
    make_public_key(folder / "short.pem", 1024)
    return folder


def test_without_options_tls_is_taken_where_it_is_offered_and_never_counted_as_verified() -> None:
    found = transport()
    assert (found.mode, found.requires_tls, found.verifies) == (SslMode.PREFERRED, False, False)
    context = found.context(over_socket=False)
    assert context is not None
    assert context.verify_mode is ssl.CERT_NONE


def test_an_authority_alone_means_that_the_certificate_is_checked(folder: Path) -> None:
    found = transport(ca=folder / "ca.pem")
    assert (found.mode, found.verifies) == (SslMode.VERIFY_CA, True)
    context = found.context(over_socket=False)
    assert context is not None
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, False)


def test_identity_is_checked_against_the_authorities_of_the_system_unless_one_is_named(folder: Path) -> None:
    context = transport("verify_identity").context(over_socket=False)
    assert context is not None
    assert context.check_hostname
    named = transport("VERIFY_IDENTITY", ca=folder / "ca.pem").context(over_socket=False)
    assert named is not None
    assert len(named.get_ca_certs()) == 1


def test_a_unix_socket_has_tls_only_where_it_is_required() -> None:
    assert transport().context(over_socket=True) is None
    assert transport("REQUIRED").context(over_socket=True) is not None
    assert transport("DISABLED").context(over_socket=False) is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "VERIFY_CA"}, "none is named"),
        ({"mode": "SOMETIMES"}, "one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY"),
        ({"mode": "REQUIRED", "ca": "ca.pem"}, "checks no certificate"),
        ({"key": "ca-server-key.pem"}, "without ssl-cert"),
        ({"public_key": "ca.pem"}, "not an RSA public key"),
        ({"public_key": "none.pem"}, "No such file"),
        ({"public_key": "short.pem"}, "1024 bits is too short"),
    ],
)
def test_options_that_protect_nothing_are_refused(folder: Path, options: dict[str, str], says: str) -> None:
    files = {name: folder / value for name, value in options.items() if name != "mode"}
    with pytest.raises(UsageError) as caught:
        transport(options.get("mode"), **files)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["ca", "cert"])
def test_a_file_that_holds_no_certificate_is_named(folder: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"key\.pem"):
        transport(**{name: folder / "key.pem"}).context(over_socket=False)


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        ("ssl-mode=VERIFY_IDENTITY", SslMode.VERIFY_IDENTITY),
        ("ssl_mode=disabled", SslMode.DISABLED),
        ("loose-ssl-mode=REQUIRED", SslMode.REQUIRED),
        ("ssl-verify-server-cert", SslMode.VERIFY_IDENTITY),
        ("ssl", SslMode.REQUIRED),
        ("ssl\nssl-ca=CA", SslMode.VERIFY_CA),
        ("skip-ssl", SslMode.DISABLED),
        ("ssl=0", SslMode.DISABLED),
        ("ssl-ca=CA", SslMode.VERIFY_CA),
        ("", SslMode.PREFERRED),
    ],
)
def test_an_option_file_says_it_as_the_clients_of_mysql_and_mariadb_do(
    folder: Path, tmp_path: Path, lines: str, mode: SslMode
) -> None:
    text = lines.replace("CA", str(folder / "ca.pem")) if "ssl-ca" in lines else lines
    path = tmp_path / "my.cnf"
    path.write_text(f"[client]\nuser=b\nhost=db1\n{text}\n")
    assert login_of(External(defaults_file=str(path))).transport.mode is mode
    assert of_options(path).transport.mode is mode


def of_options(path: Path, **more: object) -> Login:
    login = LoginOptions(defaults_file=path, **more).named_login()  # type: ignore[arg-type]
    assert login is not None
    return login


def test_options_of_the_command_line_win_over_the_option_file(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(
        f"[client]\nuser=b\nhost=db1\nssl-mode=PREFERRED\nserver-public-key-path={folder}/key.pem\n"
    )
    found = of_options(path, ssl_mode="DISABLED").transport
    assert found.mode is SslMode.DISABLED
    assert found.public_key is not None


def test_an_experiment_says_it_with_keys_of_the_same_names(folder: Path) -> None:
    external = External.model_validate(
        {"host": "db1", "user": "b", "ssl_ca": str(folder / "ca.pem"), "ssl_mode": "VERIFY_IDENTITY"}
    )
    found = login_of(external).transport
    assert (found.mode, found.ca) == (SslMode.VERIFY_IDENTITY, folder / "ca.pem")
    assert External.model_validate_json(external.at_home.model_dump_json()) == external.at_home


def test_no_option_leaves_a_login_as_it_always_was() -> None:
    assert Login("b", Secret(""), host="db1").transport == Transport()


def test_a_socket_may_be_named_by_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = LoginOptions(socket=Path("s.sock")).named_login()
    assert found is not None
    assert found.socket == tmp_path / "s.sock"


def test_a_relative_path_stays_one_where_the_absolute_one_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.chdir(deep)
    found = LoginOptions(socket=Path("s.sock")).named_login()
    assert found is not None
    assert found.socket == Path("s.sock")
    with pytest.raises(UsageError, match="at most 107 bytes"):
        LoginOptions(socket=deep / "s.sock").named_login()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("compress", Compression(("zlib", "uncompressed"))),
        ("compress=1", Compression(("zlib", "uncompressed"))),
        ("compress\nskip-compress", None),
        ("compress=OFF", None),
        ("compression-algorithms=zstd,zlib", Compression(("zstd", "zlib"))),
        ("compress\ncompression_algorithms=ZSTD", Compression(("zstd",))),
        ("compression-algorithms=zstd\nzstd-compression-level=7", Compression(("zstd",), 7)),
        ("compression-algorithms=uncompressed", None),
        ("zstd-compression-level=7", None),
        ("", None),
    ],
)
def test_an_option_file_asks_for_compression_as_the_clients_of_mysql_and_mariadb_do(
    tmp_path: Path, lines: str, expected: Compression | None
) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(f"[client]\nuser=b\nhost=db1\n{lines}\n")
    assert login_of(External(defaults_file=str(path))).transport.compression == expected
    assert of_options(path).transport.compression == expected


def test_compression_of_the_command_line_and_of_an_experiment_wins_over_the_option_file(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\nuser=b\nhost=db1\nssl-mode=REQUIRED\ncompress\nzstd-compression-level=7\n")
    given = {"compression_algorithms": "zstd"}
    by_option = LoadLogin(defaults_file=path, **given).named_login()  # type: ignore[arg-type]
    assert by_option is not None
    by_key = login_of(External.model_validate({"defaults_file": str(path), **given}))
    for login in (by_option, by_key):
        assert login.transport.compression == Compression(("zstd",), 7)
        assert login.transport.mode is SslMode.REQUIRED, "the rest is of the option file"
    encrypted = External(defaults_file=str(path), ssl_ca=str(folder / "ca.pem"))
    assert login_of(encrypted).transport.compression == Compression(("zlib", "uncompressed"), 7)
    plain = External.model_validate({"host": "db1", "user": "b", "zstd_compression_level": 9, **given})
    assert login_of(plain).transport.to_wire()["compression"] == {"algorithms": ["zstd"], "zstd_level": 9}


@pytest.mark.parametrize(
    ("algorithms", "level", "says"),
    [
        ("lz4", None, "unknown algorithm 'lz4'"),
        ("", None, "unknown algorithm ''"),
        ("zlib;zstd", None, "one or more of zlib, zstd, uncompressed, separated by commas"),
        ("zstd", 0, "from 1 to 22"),
        ("zstd", 23, "from 1 to 22"),
    ],
)
def test_a_wrong_option_of_compression_is_named(algorithms: str, level: int | None, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        compression(algorithms, level)
    assert says in str(caught.value)


def test_a_level_in_an_option_file_that_is_no_number_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\ncompression-algorithms=zstd\nzstd-compression-level=high\n")
    with pytest.raises(UsageError, match="zstd-compression-level is not a number"):
        of_options(path)
