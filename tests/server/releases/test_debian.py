"""What is made of unpacked packages; nothing is fetched (tests/live/test_private_roots.py fetches)."""

from pathlib import Path

from mydyno.server.releases.debian import leave_out_documents, merge_usr


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_files_of_both_places_come_together_in_usr(tmp_path: Path) -> None:
    write(tmp_path, "lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libaio.so.1", "lib64/ld.so.2")
    merge_usr(tmp_path)
    assert (tmp_path / "lib").readlink() == Path("usr/lib")
    assert (tmp_path / "lib64").readlink() == Path("usr/lib64")
    libraries = tmp_path / "usr/lib/x86_64-linux-gnu"
    assert sorted(path.name for path in libraries.iterdir()) == ["libaio.so.1", "libc.so.6"]
    assert (tmp_path / "lib64/ld.so.2").read_text() == "lib64/ld.so.2"


def test_a_link_from_one_place_to_the_other_gives_way_to_the_file(tmp_path: Path) -> None:
    write(tmp_path, "lib/libz.so.1", "usr/bin/perl")
    (tmp_path / "usr/lib").mkdir()
    (tmp_path / "usr/lib/libz.so.1").symlink_to("/lib/libz.so.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/perl").symlink_to("/usr/bin/perl")
    merge_usr(tmp_path)
    assert (tmp_path / "usr/lib/libz.so.1").read_text() == "lib/libz.so.1"
    assert (tmp_path / "usr/bin/perl").read_text() == "usr/bin/perl"


def test_a_tree_that_is_merged_already_gets_the_links_that_a_package_left_out_would_make(
    tmp_path: Path,
) -> None:
    write(tmp_path, "usr/lib64/ld.so.2", "usr/lib/libc.so.6")
    for _ in range(2):
        merge_usr(tmp_path)
        assert (tmp_path / "lib64/ld.so.2").exists()
        assert (tmp_path / "lib/libc.so.6").exists()
        assert not (tmp_path / "libx32").is_symlink()
        assert (tmp_path / "etc").is_dir()


def test_documents_are_left_out_and_what_the_server_reads_stays(tmp_path: Path) -> None:
    write(tmp_path, "usr/share/doc/libc6/copyright", "usr/share/man/man8/mysqld.8", "usr/share/mysql/x.sql")
    leave_out_documents(tmp_path)
    assert [path.name for path in (tmp_path / "usr/share").iterdir()] == ["mysql"]
