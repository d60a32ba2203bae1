"""Who gets in: whoever has the token or the cookie, under a name that is answered, from no other origin."""

from __future__ import annotations

import stat

import pytest

from mydyno.core.errors import UsageError
from mydyno.serve.access import Access, kept_key
from mydyno.serve.address import Names, bind, parse_listen

KEY = b"0" * 32
PATHS = (
    "/",
    "/runs/x",
    "/runs/x/events",
    "/runs/x/report",
    "/compare",
    "/trend/x",
    "/static/serve.js",
    "/nothing",
)


@pytest.mark.parametrize("path", PATHS)
def test_without_the_cookie_nothing_is_answered(served, path):
    answer = served.ask(path, Cookie="")
    assert answer.status == 401
    assert "oltp" not in answer.text


def test_the_token_gives_a_cookie_that_scripts_and_other_sites_do_not_have(served):
    answer = served.ask(f"/?token={served.token}", Cookie="")
    assert answer.status == 200
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=Strict" in answer.headers["set-cookie"]
    assert served.token not in answer.text
    assert served.token not in answer.headers["set-cookie"]
    assert served.ask("/").status == 200


@pytest.mark.parametrize("token", ["", "x", "a" * 5000, "%ff%00"])
def test_a_wrong_token_gives_none(served, token):
    answer = served.ask(f"/?token={token}", Cookie="")
    assert (answer.status, "set-cookie" in answer.headers) == (401, False)


@pytest.mark.parametrize(
    "cookie", ["mydyno=1", "mydyno-{port}=", "mydyno-{port}=0123", "{port}", "=;;;=", 'a="']
)
def test_a_wrong_cookie_does_not_open(served, cookie):
    assert served.ask("/", Cookie=cookie.format(port=served.port)).status == 401


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "",
        "[::1",
    ],
)
def test_a_name_that_was_bound_to_this_machine_by_its_owner_is_not_answered(served, host):
    """DNS rebinding: the victim's browser takes the page of evil.example and this server for one origin, and
    so sends requests here with that name (as against BitTorrent clients in 2018, CVE-2018-5702)."""
    given = host.format(port=served.port)
    for path in ("/", f"/?token={served.token}", "/static/serve.js"):
        answer = served.ask(path, Host=given)
        assert answer.status in (400, 421)
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_this_machine_is_answered_by_its_names(served, host):
    assert served.ask("/", Host=host.format(port=served.port)).status == 200


def test_a_page_of_another_origin_is_refused_even_with_the_cookie(served):
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{served.port + 1}", "file://"):
        assert served.ask("/", Origin=origin).status == 403
    assert served.ask("/", Origin=served.address).status == 200
    for site in ("cross-site", "same-site"):
        assert served.ask("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403
    assert served.ask("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status == 200


def test_a_request_that_changes_something_needs_its_origin(served):
    assert served.ask("/runs/x/stop", "POST").status == 403
    assert served.ask("/runs/x/stop", "POST", Origin="http://evil.example").status == 403


def test_every_answer_has_a_policy_and_is_not_kept(served):
    for path in ("/", "/nothing", "/static/serve.js", f"/?token={served.token}"):
        headers = served.ask(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def names(listen: str, *more: str) -> Names:
    return Names(parse_listen(listen), more)


def test_on_another_address_its_number_and_the_given_names_are_answered():
    everywhere = names("0.0.0.0:8080", "lab.example.org")
    assert everywhere.answer("192.0.2.7:8080")
    assert everywhere.answer("lab.example.org")
    assert everywhere.answer("lab.example.org:443")
    assert not everywhere.answer("evil.example:8080")
    assert not names("192.0.2.7:8080").answer("192.0.2.8:8080")
    assert names("192.0.2.7:80").answer("192.0.2.7")
    assert names("[2001:db8::1]:8080").answer("[2001:db8:0::1]:8080")


@pytest.mark.parametrize(
    "text", ["", "8080x", "127.0.0.1", "host.example:80", "127.0.0.1:99999", "1.2.3:80", "[::1:80", "::1:80"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageError, match="--listen"):
        parse_listen(text)


def test_a_port_that_is_taken_is_named():
    taken, where = bind(parse_listen("127.0.0.1:0"))
    with (
        taken,
        pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{where.port}: Address already in use"),
    ):
        bind(where)


def test_the_key_is_kept_for_its_owner_only_and_is_the_same_after_a_restart(tmp_path, monkeypatch):
    monkeypatch.setenv("MYDYNO_STATE", str(tmp_path / "state"))
    key = kept_key()
    file = tmp_path / "state" / "serve.key"
    assert kept_key() == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert kept_key() != key, "others have read it"


def test_secrets_are_not_shown():
    access = Access(names("127.0.0.1:8080"), KEY)
    assert access.token not in repr(access)
    assert "0000" not in repr(access)
