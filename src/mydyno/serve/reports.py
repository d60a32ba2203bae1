"""Reports, comparisons, trends and documents, as the commands make them, in another process.

By default it has the lowest priority: a report takes seconds of CPU time and much memory, and neither other
pages nor a measurement wait for it. It is started when it is first needed, reads one job a line from its
standard input, and ends with this process.
"""

import asyncio
import json
import os
import subprocess
import sys
import traceback
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from mydyno.core.errors import LabError, MydynoError, UsageError
from mydyno.lab.results.sound import numbers_explained
from mydyno.lab.results.store import DATABASE, Lab

_KEPT = 8
"""Pages that are kept."""


@dataclass(frozen=True)
class Wanted:
    """A page: of one run, of several compared, of an experiment over all of its runs, or of a document."""

    lab: str
    trust: bool
    runs: tuple[str, ...] = ()
    experiment: str = ""
    size: str = ""
    document: tuple[str, ...] = ()
    """Its kind and its file."""
    version: tuple[int, ...] = ()
    """Another one where the runs or the document have changed."""


class ReportMaker:
    """Makes pages, one at a time, and keeps the last ones.

    nice is the priority of the process that makes them: nice(2), added to the one of this process.
    """

    def __init__(self, nice: int = 19) -> None:
        self._nice = nice
        self._process: subprocess.Popen[bytes] | None = None
        self._kept: OrderedDict[Wanted, str] = OrderedDict()
        self._queue = ThreadPoolExecutor(1, thread_name_prefix="reports")

    async def page(self, wanted: Wanted) -> str:
        """Raises LabError, and UsageError where there is nothing to make one of."""
        return await asyncio.get_running_loop().run_in_executor(self._queue, self._page, wanted)

    def close(self) -> None:
        """Ends the process, in the middle of a page too."""
        if self._process is not None:
            self._process.kill()
        self._queue.shutdown(cancel_futures=True)

    def _page(self, wanted: Wanted) -> str:
        if wanted not in self._kept:
            self._kept[wanted] = self._made(wanted)
        self._kept.move_to_end(wanted)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[wanted]

    def _made(self, wanted: Wanted) -> str:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mydyno.serve.reports", str(self._nice)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        read, write = self._process.stdout, self._process.stdin
        assert read is not None
        assert write is not None
        try:
            write.write(json.dumps(asdict(wanted)).encode() + b"\n")
            write.flush()
            line = read.readline()
        except OSError:
            line = b""
        if not line:
            raise LabError("the process that makes reports has ended", "reload the page")
        answer = json.loads(line)
        if "error" in answer:
            raise (UsageError if answer["usage"] else LabError)(answer["error"], answer["hint"])
        made: str = answer["made"]
        return made


def _html(wanted: Wanted) -> str:
    from mydyno.lab.report.build import page_html
    from mydyno.lab.report.compared.chosen import Labs, choose
    from mydyno.lab.report.compared.view import OPTIONS, MergedRun

    def opened(path: Path) -> Lab:
        return Lab.open(path, write=False, trust=wanted.trust)

    if wanted.document:
        from mydyno.serve.documents import document_html

        kind, file = wanted.document
        return document_html(kind, Path(file))
    with Labs(Path(wanted.lab), opened) as labs:
        if wanted.experiment:
            from mydyno.serve.trend import trend_html

            return trend_html(labs.lab(), wanted.experiment, wanted.size)
        if not wanted.runs:
            raise UsageError("no run is named", "tick two or more runs in the list")
        # Names of runs of this lab only: a name may be a path for a command line, not for a page.
        runs = [labs.lab().find_run(name) for name in wanted.runs]
        if len(runs) == 1:
            return page_html(runs[0])
        return page_html(MergedRun(choose([str(run.folder) for run in runs], labs)), OPTIONS)


def _work() -> None:
    """The other process: it ends with its standard input."""
    os.nice(int(sys.argv[1]))
    for line in sys.stdin.buffer:
        job = json.loads(line)
        wanted = Wanted(**job | {name: tuple(job[name]) for name in ("runs", "document", "version")})
        try:
            with numbers_explained(Path(wanted.lab) / DATABASE):
                answer: dict[str, str | bool] = {"made": _html(wanted)}
        except MydynoError as error:
            usage = isinstance(error, UsageError)
            answer = {"error": error.message, "hint": error.hint or "", "usage": usage}
        except Exception as error:
            # The next page is made all the same.
            traceback.print_exc()
            text = f"the report cannot be made: {type(error).__name__}: {error}"
            answer = {"error": text, "hint": "", "usage": False}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _work()
