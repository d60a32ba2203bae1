import threading
from contextlib import suppress
from pathlib import Path

from mydyno.core.removal import remove_tree


def test_a_folder_that_another_process_is_emptying_is_removed(tmp_path: Path) -> None:
    for number in range(30):
        folder = tmp_path / str(number)
        for name in range(50):
            (folder / str(name)).mkdir(parents=True)

        def empty(folder: Path = folder) -> None:
            for name in reversed(range(50)):
                with suppress(FileNotFoundError):
                    (folder / str(name)).rmdir()

        other = threading.Thread(target=empty)
        other.start()
        remove_tree(folder)
        other.join()
        assert not folder.exists()


def test_what_is_not_there_is_no_error_and_a_link_is_not_followed(tmp_path: Path) -> None:
    remove_tree(tmp_path / "nothing")
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(kept)
    remove_tree(tmp_path / "folder")
    assert kept.is_dir()
