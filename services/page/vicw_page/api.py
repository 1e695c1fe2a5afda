"""Serves the page: its document at ``/``, everything else that it loads below ``/page/``.

The files need no key: all that they show comes from the public operations, which ask for one. The policy lets the page
load nothing from elsewhere and run no script that is not one of its files, so that no stored text can become one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

FILES = Path(__file__).parent / "static"
"""What is served."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",  # asked for again by its ETag: an update of the server is an update of the page
}
_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
"""By suffix; on some machines the registry calls scripts plain text, and a browser then runs none."""
_GZIP_BYTES = 1000


class PageFiles(StaticFiles):
    """The files of the page, with its policy."""

    def file_response(self, full_path: str | os.PathLike[str], *args: Any, **kwargs: Any) -> Response:
        """Return the answer with a file, or that it is unchanged."""
        response = super().file_response(full_path, *args, **kwargs)
        response.headers.update(HEADERS)
        if isinstance(response, FileResponse):
            media_type = _MEDIA_TYPES.get(Path(full_path).suffix)
            if media_type is not None:
                response.headers["Content-Type"] = f"{media_type}; charset=utf-8"
        return response


def add_page(app: FastAPI) -> None:
    """Serve the page at ``/``."""
    files = PageFiles(directory=FILES)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(
            FILES / "index.html", headers={**HEADERS, "Content-Type": f"{_MEDIA_TYPES['.html']}; charset=utf-8"}
        )

    app.mount("/page", GZipMiddleware(files, _GZIP_BYTES), name="page")
