import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.machine.frames import GREETING, LONGEST, Decoder, Frame, Kind, MalformedError

FRAMES = st.builds(Frame, st.sampled_from(Kind), st.integers(0, 2**32 - 1), st.binary(max_size=50))


@given(st.lists(FRAMES), st.integers(1, 20))
def test_frames_come_out_as_they_went_in_however_the_bytes_are_split(frames: list[Frame], size: int) -> None:
    stream = GREETING + b"".join(frame.encoded() for frame in frames)
    decoder = Decoder()
    seen = [frame for at in range(0, len(stream), size) for frame in decoder.feed(stream[at : at + size])]
    assert seen == frames


def test_what_a_console_says_before_the_greeting_is_skipped() -> None:
    decoder = Decoder()
    assert decoder.feed(b"Linux version 6.1\r\nmydyno-ag") == []
    assert decoder.feed(b"ent: none yet\n") == []
    assert decoder.feed(GREETING + Frame(Kind.END, 1).encoded()) == [Frame(Kind.END, 1)]


def test_a_console_that_never_greets_is_not_an_agent() -> None:
    with pytest.raises(MalformedError, match="no agent has greeted"):
        Decoder().feed(b"\0" * (2 << 20))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (Frame(Kind.DATA, 1, bytes(LONGEST + 1)).encoded(), f"a payload of {LONGEST + 1} bytes"),
        (b"\0\0\0\0\x63\0\0\0\0", "frame kind 99"),
        (b"\0\0\0\0\0\0\0\0\0", "frame kind 0"),
    ],
)
def test_what_no_agent_would_say_is_malformed(broken: bytes, said: str) -> None:
    decoder = Decoder()
    decoder.feed(GREETING)
    with pytest.raises(MalformedError, match=said):
        decoder.feed(broken)
