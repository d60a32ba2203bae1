"""What stands in the page for its script, and the process that makes the pictures."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest

from mydyno.core.errors import MydynoError
from mydyno.page.charts import vega
from mydyno.page.charts.press import Press
from mydyno.page.page_data import json_text, policy, script_text


def test_data_cannot_end_or_swallow_the_script_it_stands_in():
    evil = "</script><!-- <script> & \u2028\u2029 \" '"
    written = json_text({evil: [evil, None, 0.5]})
    assert not set(written) & set("<>&\u2028\u2029")
    assert json.loads(written) == {evil: [evil, None, 0.5]}


def test_what_is_no_number_in_json_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        json_text([float("nan")])


@pytest.mark.parametrize("evil", ["'</SCRIPT>'", "'<!--'", "'<script>'"])
def test_a_script_that_would_not_stand_in_a_page_is_refused(evil):
    with pytest.raises(ValueError, match="would break the page"):
        script_text(f"const text = {evil};")


def test_the_policy_names_each_script_by_its_hash_and_allows_nothing_else():
    digest = base64.b64encode(hashlib.sha256(b"one()").digest()).decode()
    result = policy(["one()"])
    assert f"script-src 'sha256-{digest}';" in result
    assert result.startswith("default-src 'none';")
    assert "eval" not in result


def test_the_script_of_the_page_is_kept_and_packed_anew_where_it_cannot_be(tmp_path, monkeypatch):
    monkeypatch.setenv("MYDYNO_CACHE", str(tmp_path))
    (tmp_path / "page").mkdir()
    kept = vega.script()
    (file,) = (tmp_path / "page").iterdir()
    assert file.read_text() == kept
    file.write_text("the kept one")
    assert vega.script() == "the kept one"
    assert "vegaEmbed" in script_text(kept)


def test_a_picture_that_cannot_be_drawn_says_why_and_the_next_one_is():
    press = Press()
    try:
        with pytest.raises(MydynoError, match="a picture cannot be drawn: "):
            press.png("no picture at all").result()
        assert (
            press.png('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>').result()[:4]
            == b"\x89PNG"
        )
    finally:
        press.close()


def test_a_drawing_process_that_is_gone_is_an_error_and_no_hang():
    press = Press()
    press._process.kill()
    press._process.wait()
    with pytest.raises(MydynoError, match="the process that draws them ended"):
        press.svg({}).result()
    press._queue.shutdown()
