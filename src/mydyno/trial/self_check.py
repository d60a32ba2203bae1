from mydyno.results.records import Remark, SelfCheckRecord


def self_check(ground, volume, storage) -> tuple[SelfCheckRecord, ...]:
    return ()


def remarks(records) -> tuple[Remark, ...]:
    return ()
