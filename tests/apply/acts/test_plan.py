"""Which acts bring changes about."""

from mydyno.apply.acts.plan import joined_mounts
from mydyno.apply.change import SetMountOptions, SetSysctl

SWAPPINESS = SetSysctl(name="vm.swappiness", value="1", was="60")


def mount(point: str, add: str, remove: str) -> SetMountOptions:
    return SetMountOptions(mount_point=point, add=(add,), remove=(remove,), was=None)


def test_what_several_rules_want_of_one_mount_is_one_remount() -> None:
    changes = (
        mount("/data", "noatime", "strictatime"),
        SWAPPINESS,
        mount("/log", "noatime", "strictatime"),
        mount("/data", "barrier", "nobarrier"),
    )
    assert list(joined_mounts(changes)) == [
        SWAPPINESS,
        SetMountOptions(
            mount_point="/data",
            add=("noatime", "barrier"),
            remove=("strictatime", "nobarrier"),
            was=None,
        ),
        mount("/log", "noatime", "strictatime"),
    ]
