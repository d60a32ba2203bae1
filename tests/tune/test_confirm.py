"""How a winner is confirmed."""

from mydyno.tune.confirm import in_blocks
from tune.builders import candidate, round_of


def test_a_winner_of_a_disturbed_heat_is_confirmed_in_blocks() -> None:
    rounds = [
        round_of(1, 1, 0, t0=1000.0, t1=1100.0),
        round_of(2, 1, 1, t1=1000.0, t2=1200.0),
        round_of(2, 2, 1, t1=1000.0, t2=1200.0).model_copy(update={"disturbed": True}),
        round_of(3, 1, 1, t1=1000.0, t3=1300.0),
    ]
    assert [in_blocks(candidate(number), rounds) for number in (1, 2, 3)] == [True, True, False]
