from advisor.builders import host, system
from mydyno.advisor import rule_of
from mydyno.advisor.rule import Fine, NotHere
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Finding
from mydyno.survey.facts import Memory, System


def machine(swappiness: str, swap: int = 1 << 30) -> System:
    return system(
        the_host=host(
            memory_facts=Memory(total=1 << 34, swap_total=swap), sysctls={"vm.swappiness": swappiness}
        )
    )


def test_the_default_is_a_finding_where_there_is_swap() -> None:
    found = rule_of("swappiness").judge(machine("60"), Targets())
    assert isinstance(found, Finding)
    assert [change.sentence() for change in found.changes] == ["vm.swappiness = 1 (now 60)"]


def test_one_is_fine_and_without_swap_there_is_nothing_to_say() -> None:
    assert isinstance(rule_of("swappiness").judge(machine("1"), Targets()), Fine)
    assert isinstance(rule_of("swappiness").judge(machine("60", swap=0), Targets()), NotHere)
