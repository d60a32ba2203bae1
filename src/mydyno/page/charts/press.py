"""A second process that makes pictures while this one prepares the next chart: vl-convert needs a second to
start and keeps Python's interpreter lock all the while.

It is started when it is first needed, reads one job a line from its standard input, and ends with this
process.
"""

import atexit
import base64
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property
from typing import Any

from mydyno.core.errors import MydynoError


class Press:
    """Jobs are done one after another, in the order in which they were given."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mydyno.page.charts.press"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._queue = ThreadPoolExecutor(max_workers=1)

    def svg(self, spec: dict[str, Any]) -> Future[str]:
        return self._queue.submit(self._answer, "svg", spec)

    def png(self, drawn: str) -> Future[bytes]:
        return self._queue.submit(lambda: base64.b64decode(self._answer("png", drawn)))

    @cached_property
    def script(self) -> Future[str]:
        """The page's script that draws charts. Ask for it before the pictures: it waits its turn."""
        return self._queue.submit(self._answer, "script")

    def close(self) -> None:
        """Ends the process."""
        self._queue.shutdown(cancel_futures=True)
        self._process.communicate()

    def _answer(self, job: str, *arguments: object) -> str:
        read, write = self._process.stdout, self._process.stdin
        assert read is not None
        assert write is not None
        try:
            write.write(json.dumps([job, *arguments]).encode() + b"\n")
            write.flush()
            line = read.readline()
        except OSError:
            line = b""
        if not line:
            raise MydynoError(
                f"the pictures cannot be drawn: the process that draws them ended ({self._process.wait()})",
                "its last output is above; memory may be short",
            )
        answer = json.loads(line)
        if "error" in answer:
            raise MydynoError(f"a picture cannot be drawn: {answer['error']}")
        made: str = answer["made"]
        return made


@cache
def press() -> Press:
    """The one of this process."""
    made = Press()
    atexit.register(made.close)
    return made


def _work() -> None:
    """The second process: it ends with its standard input."""
    from mydyno.page.charts import vega

    jobs: dict[str, Callable[..., str]] = {
        "svg": vega.svg,
        "png": lambda drawn: base64.b64encode(vega.png(drawn)).decode(),
        "script": vega.script,
    }
    for line in sys.stdin.buffer:
        name, *arguments = json.loads(line)
        try:
            answer = {"made": jobs[name](*arguments)}
        except (RuntimeError, TypeError, ValueError) as error:
            answer = {"error": str(error).partition("\n")[0]}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _work()
