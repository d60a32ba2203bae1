"""How long a run still takes: from the trials that this start has finished, and the estimate before that."""


def seconds_left(expected_seconds: float, to_do: int, done: int, elapsed: float) -> float:
    """Seconds until the end; 0 when the estimate has been passed.

    `to_do`: trials that this start of the run has to run, `done` of them in `elapsed` seconds.
    """
    if done:
        return max(0.0, elapsed / done * to_do - elapsed)
    return max(0.0, expected_seconds - elapsed)
