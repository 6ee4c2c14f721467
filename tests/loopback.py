"""An ASGI application on loopback, in a thread of its own."""

import socket
import threading

import uvicorn
from starlette.applications import Starlette


class Loopback:
    """Serves the routes until it is closed."""

    def __init__(self, routes):
        config = uvicorn.Config(Starlette(routes=routes), lifespan="off", ws="none", log_config=None, date_header=False)
        self._server = uvicorn.Server(config)
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def close(self):
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
