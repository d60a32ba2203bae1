from mydyno.core import errors


def test_the_hint_is_on_its_own_line() -> None:
    assert str(errors.LabError("lab is busy", "wait for pid 12")) == "lab is busy\n  hint: wait for pid 12"
    assert str(errors.LabError("lab is busy")) == "lab is busy"


def test_every_exit_code_is_an_error_s_or_an_outcome_s() -> None:
    of_errors = {each.exit_code for each in (errors.MydynoError, *errors.MydynoError.__subclasses__())}
    outcomes = {"DONE", "INVALID_TRIALS", "SLOWER", "INTERRUPTED"}
    assert {code for code in errors.ExitCode if code.name not in outcomes} == of_errors


def test_every_error_class_is_in_the_tree() -> None:
    for cls in errors.MydynoError.__subclasses__():
        if cls.__module__ == errors.__name__:
            assert cls.__name__ in (errors.__doc__ or "")
