"""The application of the local page: its addresses, what each shows, and what it answers errors."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from memory_assets.errors import MemoryAssetsError, UnknownIdError, UnknownMemoryError
from memory_assets.interfaces.dispatcher import present_agent, try_to_warm_up
from memory_assets.interfaces.envelope import message_of
from memory_assets.interfaces.guard import App
from memory_assets.interfaces.page import actions, views
from memory_assets.interfaces.page.entrance import Entrance, NotAdmittedError, Visit, form_of
from memory_assets.text.html_page import STYLE, render

FOLDER = Path(__file__).parent
TEMPLATES = FOLDER / "templates"

WARM_UP = "warm-up of the page"
"""Name of the thread that loads what the first requests need."""

NAVIGATION = {
    "": "Home",
    "search": "Search",
    "review": "Review",
    "memories": "Memories",
    "files": "Files",
    "health": "Health",
}
"""Path of each view → its name."""

Endpoint = Callable[[Request], Awaitable[Response]]


def application(port: int) -> App:
    """Returns the ASGI application of the page that is served on the port."""
    page = _Page(Entrance(port))
    return page.entrance.guard(page.routes())


class _Page:
    """The views and actions, for the browsers that the entrance lets in."""

    def __init__(self, entrance: Entrance) -> None:
        self.entrance = entrance

    def routes(self) -> Starlette:
        """Returns the application without its guard."""
        inside = [
            Route("/style.css", _style),
            Route("/keys.js", _script),
            *(Route(f"/{name}", self._view(name, view)) for name, view in views.VIEWS.items()),
            *(
                Route(f"/{name}", self._action(action), methods=["POST"])
                for name, action in actions.ACTIONS.items()
            ),
        ]
        handlers: Any = {
            NotAdmittedError: self._refuse,
            Exception: self._fail,
            404: self._refuse_path,
        }
        handlers |= {MemoryAssetsError: self._fail, 405: self._refuse_path}
        return Starlette(
            routes=[
                Route("/enter", self._enter),
                Mount(f"/{self.entrance.place}", routes=inside),
            ],
            exception_handlers=handlers,
            lifespan=self._warm_up,
        )

    @asynccontextmanager
    async def _warm_up(self, _: Starlette) -> AsyncIterator[None]:
        """Loads what the first view and the first search need, while the server starts."""
        Thread(target=self._load, name=WARM_UP, daemon=True).start()
        yield

    def _load(self) -> None:
        with suppress(Exception):  # the first request meets the error, too, and shows it
            values = views.home(present_agent(), Visit(), {})
            self._page("home.html", Visit(), "", **values)
        try_to_warm_up()

    async def _enter(self, request: Request) -> Response:
        return self.entrance.enter(request)

    def _view(self, name: str, view: views.View) -> Endpoint:
        """Returns the endpoint that shows a view."""

        async def show(request: Request) -> Response:
            """Answers a browser that was let in."""
            visit = self.entrance.visit_of(request)
            query = dict(request.query_params)
            values = await run_in_threadpool(view, present_agent(), visit, query)
            return self._page(f"{name or 'home'}.html", visit, name, **values)

        return show

    def _action(self, action: actions.Action) -> Endpoint:
        """Returns the endpoint that carries an action out, and shows its result or goes on."""

        async def act(request: Request) -> Response:
            """Answers a form of this visit."""
            visit = self.entrance.visit_of(request)
            form = await form_of(request, visit)
            result = await run_in_threadpool(action, present_agent(), visit, form)
            if isinstance(result, str):
                return RedirectResponse(f"/{self.entrance.place}/{result}", 303)
            return self._page("forget.html", visit, "forget", **result)

        return act

    def _page(
        self, template: str, visit: Visit | None, name: str, code: int = 200, **values: Any
    ) -> Response:
        """Returns a page; what the last change did is shown on it, and then dropped."""
        values |= {
            "place": f"/{self.entrance.place}/",
            "navigation": NAVIGATION if visit else {},
            "current": name,
            "form": visit.form_token if visit else "",
            "notice": visit.notice if visit else "",
            "changed": visit.changed if visit else (),
            "zone": present_agent().settings.zone,
        }
        if visit is not None:
            visit.notice = ""
            visit.changed = ()
        return HTMLResponse(render(template, TEMPLATES, **values), code)

    async def _refuse(self, _: Request, error: Exception) -> Response:
        status = error.status if isinstance(error, NotAdmittedError) else 400
        return self._page("error.html", None, "", status, title="Not here", message=str(error))

    async def _refuse_path(self, request: Request, _: Exception) -> Response:
        try:
            visit = self.entrance.visit_of(request)
        except NotAdmittedError as refusal:
            return await self._refuse(request, refusal)
        message = f"There is no page {request.url.path[:80]}."
        return self._page("error.html", visit, "", 404, title="No such page", message=message)

    async def _fail(self, request: Request, error: Exception) -> Response:
        """Shows the message of an error; only pages of a visit fail."""
        is_unknown = isinstance(error, UnknownIdError | UnknownMemoryError)
        status = 404 if is_unknown else 400 if isinstance(error, MemoryAssetsError) else 500
        values = {"title": "That did not work", "message": message_of(error)}
        return self._page("error.html", self.entrance.visit_of(request), "", status, **values)


async def _style(_: Request) -> Response:
    own = (FOLDER / "page.css").read_text("utf-8")
    return Response(STYLE + own, media_type="text/css")


async def _script(_: Request) -> Response:
    return FileResponse(FOLDER / "keys.js", media_type="text/javascript")
