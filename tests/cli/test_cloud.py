"""`mydyno cloud export` from the command line to its files; golden files of each provider."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from lab.cloud.builders import KEY
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core.errors import UsageError
from mydyno.lab import spec
from mydyno.lab.cloud.catalogue import PROVIDERS

GOLDEN = Path(__file__).parents[1] / "lab" / "cloud" / "golden"
FILES = ["README.md", "cloud-init.yaml", "experiment.yaml", "main.tf.json"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(GOLDEN / "array.yaml", tmp_path)
    (tmp_path / "key.pub").write_text(f"# mine\n{KEY} me@here ${{path.module}}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def export(*more: str, key: str = "key.pub", network: str = "203.0.113.7") -> str:
    """What is printed, both streams."""
    words = ["cloud", "export", "array.yaml", "--ssh-key", key, "--ssh-from", network, "--out", "machine"]
    answer = CliRunner().invoke(app, [*words, *more])
    if answer.exception is not None:
        raise answer.exception
    return answer.output


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_files_are_the_golden_ones(provider: str, here: Path) -> None:
    """`make docs` does not write them: copy `machine` over the golden folder when a change is meant."""
    result = export("--provider", provider)
    assert result.splitlines()[-1].startswith("machine: main.tf.json, cloud-init.yaml, experiment.yaml")
    assert sorted(path.name for path in (here / "machine").iterdir()) == FILES
    for name in FILES:
        assert (here / "machine" / name).read_text() == (GOLDEN / provider / name).read_text()
    assert spec.load(here / "machine" / "experiment.yaml").setup.host.name == "mydyno-array"


def test_notes_are_printed(here: Path) -> None:
    assert "note: data: each gp3 disk of 128 GiB does 3,000 IOPS, and the experiment says 500" in export(
        "--provider", "aws"
    )


def test_a_folder_that_holds_files_is_only_written_with_force(here: Path) -> None:
    export("--provider", "azure")
    state = here / "machine" / "terraform.tfstate"
    state.write_text("{}")
    before = (here / "machine" / "main.tf.json").read_text()
    with pytest.raises(UsageError, match="--out machine holds files") as refused:
        export("--provider", "gcp")
    assert "--force" in (refused.value.hint or "")
    assert (here / "machine" / "main.tf.json").read_text() == before
    export("--provider", "gcp", "--force")
    assert (here / "machine" / "main.tf.json").read_text() != before
    assert state.read_text() == "{}"


def test_an_input_is_not_replaced_and_a_file_is_no_folder(here: Path) -> None:
    (here / "array.yaml").rename(here / "experiment.yaml")
    words = ["cloud", "export", "experiment.yaml", "--provider", "aws", "--ssh-key", "key.pub"]
    before = (here / "experiment.yaml").read_text()
    for out, message in ((".", "is an input of this command"), ("key.pub", "is a file")):
        answer = CliRunner().invoke(app, [*words, "--ssh-from", "10.0.0.1", "--out", out, "--force"])
        assert message in str(answer.exception)
    assert (here / "experiment.yaml").read_text() == before
    assert sorted(path.name for path in here.iterdir()) == ["experiment.yaml", "key.pub"]


def test_a_private_key_never_gets_anywhere(here: Path) -> None:
    private = "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n-----END OPENSSH PRIVATE KEY-----\n"
    (here / "key").write_text(private)
    with pytest.raises(UsageError, match="is a private key") as refused:
        export("--provider", "azure", key="key")
    assert refused.value.hint == "--ssh-key key.pub"
    assert not (here / "machine").exists()


@pytest.mark.parametrize(
    "text",
    ["", "ssh-ed25519 short", f"{KEY}\n{KEY}\n", f'{KEY}"\n', f"command=x {KEY}", f"{KEY}\n- name: root"],
)
def test_what_is_not_one_public_key_is_refused(text: str, here: Path) -> None:
    (here / "key.pub").write_text(text)
    with pytest.raises(UsageError, match="is not one public key of OpenSSH"):
        export("--provider", "azure")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--region", 'x" ${file("/etc/shadow")}'], "--region .* is not a name"),
        (["--zone", "a b"], "--zone 'a b' is not a name"),
        (["--machine-size", "x\ny"], "--machine-size .* is not a name"),
        (["--caching", "data"], "--caching data: not NAME=VALUE"),
        (["--caching", "data=write-back"], "unknown mode"),
        (["--caching", "data=none", "--caching", "data=none"], "names data twice"),
        (["--level", "array"], "--level array: not NAME=VALUE"),
    ],
)
def test_what_an_option_cannot_be_is_refused(more: list[str], message: str, here: Path) -> None:
    with pytest.raises(UsageError, match=message):
        export("--provider", "azure", *more)
    assert not (here / "machine").exists()


def test_the_network_of_ssh_is_one(here: Path) -> None:
    for network in ("203.0.113.7/24", "everywhere", "0.0.0.0/0; drop"):
        with pytest.raises(UsageError, match="is not a network") as refused:
            export("--provider", "azure", network=network)
        assert refused.value.hint == "your own address with /32, as 203.0.113.7/32"
    with pytest.raises(UsageError, match="missing cannot be read: No such file"):
        export("--provider", "azure", key="missing")
