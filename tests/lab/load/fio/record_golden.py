"""Records what the installed fio really reports, for the tests of the parsers.

    python tests/lab/load/fio/record_golden.py FOLDER

FOLDER is empty and on a disk. Files of other versions of fio stay.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parent / "data"
COMMON = [
    *("--output-format=json+", "--eta=never", "--group_reporting", "--thread", "--lat_percentiles=1"),
    *("--bs=4k", "--size=4M", "--log_avg_msec=500", "--iopsavgtime=500", "--per_job_logs=0"),
]
TIMED = ["--runtime=2", "--time_based", "--direct=1"]
DEEP = ["--ioengine=libaio", "--iodepth=8"]
RUNS = {
    "random-writes": ["--rw=randwrite", "--numjobs=4", "--rate_iops=50", *TIMED, *DEEP],
    "mixed-with-fdatasync": ["--rw=randrw", "--fdatasync=4", "--rate_iops=100", *TIMED, *DEEP],
    "two-jobs": ["--rw=read", "--rate_iops=100", *TIMED],
    "steady": [
        "--rw=randread",
        "--rate_iops=100",
        *TIMED,
        "--ss=iops:50%",
        "--ss_dur=2s",
        "--runtime=9",
        *DEEP,
    ],
    "never-steady": [
        "--rw=randread",
        *TIMED,
        "--runtime=3",
        "--ss=iops:0.0001%",
        "--ss_dur=2s",
        *DEEP,
    ],
    "size-ran-out": ["--rw=randwrite", "--runtime=30", "--numjobs=2", *DEEP],
    "no-space": ["--rw=write", "--size=64k"],
    "interrupted": ["--rw=randwrite", "--rate_iops=100", "--runtime=60", "--time_based"],
    "wrong-option": ["--rw=randwrites"],
}


def main() -> None:
    folder = Path(sys.argv[1])
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    for name, options in RUNS.items():
        logs = folder / name
        file = "/dev/full" if name == "no-space" else str(folder / "test")
        command = ["fio", "--name=test", f"--filename={file}", *COMMON, f"--write_iops_log={logs}", *options]
        if name == "two-jobs":
            command += [
                "--name=more",
                *command[2 : -len(options)],
                "--rw=randwrite",
                "--fsync=4",
                "--rate_iops=50",
                *TIMED,
            ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                process.wait(2 if name == "interrupted" else 30)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
            output, errors = process.communicate()
        # The folder is of the machine that recorded it.
        (DATA / f"{version}-{name}.json").write_text(output.replace(str(folder), "/volume"))
        (DATA / f"{version}-{name}.err").write_text(errors.replace(str(folder), "/volume"))
        log = Path(f"{logs}_iops.log")
        if log.exists():
            (DATA / f"{version}-{name}.log").write_text(log.read_text())


if __name__ == "__main__":
    main()
