"""What is answered to which request. Reads the lab; changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mydyno.core.errors import LabError, MydynoError, UsageError
from mydyno.lab.results.run import Run
from mydyno.lab.results.store import Lab
from mydyno.page.format import printable
from mydyno.serve import pages
from mydyno.serve.access import Access, Guard
from mydyno.serve.activity import lock_holder, newest_events
from mydyno.serve.documents import documents, find_document
from mydyno.serve.events_file import EventsFile, Followed
from mydyno.serve.library import Library
from mydyno.serve.overview import Listed, Overview, Query, listed, searched
from mydyno.serve.progress import Progress
from mydyno.serve.reports import ReportMaker, Wanted
from mydyno.serve.run_view import Judge, RunView, judged, run_view
from mydyno.serve.starting import Runner
from mydyno.serve.stream import EventStream, number_of

_LIST_SECONDS = 1.0
"""For so long the list is not read again, however many look at it."""
_MOST_COMPARED = 12


@dataclass
class Pages:
    """The lab as pages. What reads the lab runs in its thread."""

    library: Library
    trust: bool = False
    runner: Runner | None = None
    """None where runs are neither started nor stopped from here."""
    closing: Callable[[], bool] = lambda: False
    """Whether the server is about to end."""
    reports: ReportMaker = field(default_factory=ReportMaker)
    _judge: Judge = field(default_factory=Judge)
    _followed: dict[str, Followed] = field(default_factory=dict)
    _listed: tuple[float, tuple[Listed, ...]] = (0.0, ())

    @property
    def lab(self) -> Path:
        return self.library.path

    def routes(self) -> list[Route]:
        own = [
            Route("/", self.index),
            Route("/static/{name}", self.static),
            Route("/compare", self.compare),
            Route("/trend/{experiment}", self.trend),
            Route("/documents", self.documents),
            Route("/documents/{kind}/{name}", self.document),
            Route("/runs/{run}", self.run),
            Route("/runs/{run}/part", self.part),
            Route("/runs/{run}/verdict", self.verdict),
            Route("/runs/{run}/events", self.events),
            Route("/runs/{run}/report", self.report),
        ]
        if self.runner is not None:
            own += [
                Route("/runs/{run}/start", self.start, methods=["POST"]),
                Route("/runs/{run}/stop", self.stop, methods=["POST"]),
            ]
        return own

    async def index(self, request: Request) -> Response:
        given = request.query_params
        page = given.get("page", "1")
        query = Query(
            text=given.get("q", ""),
            factor=given.get("factor", ""),
            release=given.get("release", ""),
            state=given.get("state", ""),
            page=int(page) if page.isascii() and page.isdecimal() and len(page) < 7 else 1,
        )
        found: Overview = searched(await self.library.read(self._runs), query)
        if "part" in given:
            return HTMLResponse(pages.rendered("runs.html", found=found, query=query))
        count = len(await self.library.read(lambda lab: documents(lab.path)))
        return HTMLResponse(
            pages.rendered(
                "index.html", found=found, query=query, documents=count, lab=printable(str(self.lab))
            )
        )

    async def run(self, request: Request) -> Response:
        return await self._run_page(request, "run.html")

    async def part(self, request: Request) -> Response:
        """What of the page changes when a trial has ended."""
        return await self._run_page(request, "run_part.html")

    async def verdict(self, request: Request) -> Response:
        def read(lab: Lab) -> str:
            run = lab.find_run(request.path_params["run"])
            found = judged(run, self._judge, running=self._running(lab) == run.folder.name)
            return found.headline or f"No verdict: {found.fault}"

        return JSONResponse(await self.library.read(read))

    async def events(self, request: Request) -> Response | ASGIApp:
        file = await self.library.read(lambda lab: lab.find_run(request.path_params["run"]).events_file)
        after = number_of(request.headers.get("last-event-id"), request.query_params.get("after"))
        stream: ASGIApp = EventStream(EventsFile(file), after, self.closing)
        return stream

    async def report(self, request: Request) -> Response:
        return await self._report((request.path_params["run"],))

    async def compare(self, request: Request) -> Response:
        names = tuple(dict.fromkeys(request.query_params.getlist("run")))
        if not 2 <= len(names) <= _MOST_COMPARED:
            raise UsageError(
                f"a comparison is of two to {_MOST_COMPARED} runs, and not of {len(names)}",
                "tick the runs in the list, then press Compare",
            )
        return await self._report(names)

    async def trend(self, request: Request) -> Response:
        name, size = request.path_params["experiment"], request.query_params.get("size", "")

        def version(lab: Lab) -> tuple[int, ...]:
            return tuple(len(run.attempts()) for run in lab.runs(name))

        found = await self.library.read(version)
        wanted = Wanted(str(self.lab), self.trust, experiment=name, size=size, version=found)
        return HTMLResponse(await self.reports.page(wanted), headers=_REPORT_HEADERS)

    async def documents(self, request: Request) -> Response:
        found = await self.library.read(lambda lab: documents(lab.path))
        return HTMLResponse(pages.rendered("documents.html", documents=found, lab=printable(str(self.lab))))

    async def document(self, request: Request) -> Response:
        kind, name = request.path_params["kind"], request.path_params["name"]
        found = await self.library.read(lambda lab: find_document(lab.path, kind, name))
        wanted = Wanted(str(self.lab), self.trust, document=(kind, str(found.path)), version=found.version)
        return HTMLResponse(await self.reports.page(wanted), headers=_REPORT_HEADERS)

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = pages.static(name)
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=pages.STATIC.get(name, "text/css; charset=utf-8"))

    async def start(self, request: Request) -> Response:
        runner = self.runner
        assert runner is not None
        again = (await request.body()) == b"again=1"

        def read(lab: Lab) -> tuple[Path, str]:
            run = lab.find_run(request.path_params["run"])
            return run.folder, run.experiment.size

        folder, size = await self.library.read(read)
        runner.start(folder, size if size != "full" else "", again=again)
        return RedirectResponse("/" if again else f"/runs/{folder.name}", 303)

    async def stop(self, request: Request) -> Response:
        assert self.runner is not None
        name = request.path_params["run"]
        if await self.library.read(self._running) != name:
            raise UsageError("this run is not under way", "reload the page")
        self.runner.stop()
        return RedirectResponse(f"/runs/{name}", 303)

    async def _report(self, names: tuple[str, ...]) -> Response:
        def version(lab: Lab) -> tuple[int, ...]:
            return tuple(len(lab.find_run(name).attempts()) for name in names)

        found = await self.library.read(version)
        wanted = Wanted(str(self.lab), self.trust, runs=names, version=found)
        return HTMLResponse(await self.reports.page(wanted), headers=_REPORT_HEADERS)

    async def _run_page(self, request: Request, template: str) -> Response:
        view = await self.library.read(partial(self._view, name=request.path_params["run"]))
        failure = self.runner.failure(view.folder) if self.runner is not None else []
        return HTMLResponse(
            pages.rendered(template, view=view, may_run=self.runner is not None, failure=failure)
        )

    def _view(self, lab: Lab, name: str) -> RunView:
        run = lab.find_run(name)
        is_running = self._running(lab) == run.folder.name
        others = (one for one in lab.runs(run.experiment.name) if one.folder != run.folder)
        has_trend = any(one.experiment.size == run.experiment.size and one.attempts() for one in others)
        return run_view(run, self._judge, self._progress(run) if is_running else None, has_trend=has_trend)

    def _runs(self, lab: Lab) -> tuple[Listed, ...]:
        at, runs = self._listed
        if monotonic() - at > _LIST_SECONDS:
            running = self._running(lab)
            progress = self._followed[running].progress if running is not None else None
            runs = listed(lab.summarise_runs(), lab.run_facets(), running, progress)
            self._listed = monotonic(), runs
        return runs

    def _running(self, lab: Lab) -> str | None:
        """The folder of the run that is under way."""
        if lock_holder(lab.path) is None:
            return None
        folder = newest_events(lab.path / "runs")
        if folder is None:
            return None
        self._keep_only(folder)
        file = EventsFile(lab.path / "runs" / folder / "events.jsonl")
        followed = self._followed.setdefault(folder, Followed(file))
        return None if followed.look().ended else folder

    def _progress(self, run: Run) -> Progress:
        return self._followed[run.folder.name].progress

    def _keep_only(self, folder: str) -> None:
        for other in [each for each in self._followed if each != folder]:
            del self._followed[other]


_REPORT_HEADERS = {"content-security-policy": "base-uri 'none'; frame-ancestors 'none'"}
"""A report has its own policy in it, which names its scripts by their hashes; both are in force."""


async def _failed(request: Request, error: Exception) -> Response:
    """A page that says what is wrong. An unknown run is not found; a lab may come back."""
    assert isinstance(error, MydynoError)
    status = 404 if isinstance(error, UsageError) else 503
    text = pages.rendered("failed.html", message=printable(error.message), hint=printable(error.hint or ""))
    return HTMLResponse(text, status)


async def _not_found(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    text = pages.rendered("failed.html", message="There is no such page.", hint="")
    return HTMLResponse(text, status)


def application(shown: Pages, access: Access) -> ASGIApp:
    """The whole of it, guarded."""
    handlers = {LabError: _failed, UsageError: _failed, MydynoError: _failed, HTTPException: _not_found}
    return Guard(Starlette(routes=shown.routes(), exception_handlers=handlers), access)
