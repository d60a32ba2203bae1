from mydyno.core import errors


def test_the_hint_stands_on_its_own_line() -> None:
    assert str(errors.LabError("lab is busy", "wait for pid 12")) == "lab is busy\n  hint: wait for pid 12"
    assert str(errors.LabError("lab is busy")) == "lab is busy"


def test_every_error_class_has_the_exit_code_its_table_gives() -> None:
    table = errors.__doc__ or ""
    for cls in (errors.MydynoError, *errors.MydynoError.__subclasses__()):
        if cls.__module__ != errors.__name__:
            continue
        row = next(line for line in table.splitlines() if cls.__name__ in line)
        assert row.split(cls.__name__)[1].split()[0] == str(cls.exit_code)
