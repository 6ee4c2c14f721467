"""An MCP server over stdio whose tools answer, end it or hang it: frail_server.py MARKER.

MARKER is only there so that a test can find the processes it has started.
"""

import json
import os
import signal
import sys
import time

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def tool(name, **annotations):
    return {"name": name, "inputSchema": SCHEMA, "annotations": annotations}


TOOLS = [tool("read", readOnlyHint=True), tool("die", readOnlyHint=True), tool("hang", readOnlyHint=True), tool("act")]
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "frail", "version": "1"},
    },
    "tools/list": {"tools": [*TOOLS, {"name": 7}]},
}


def call(name):
    if name == "die":
        os._exit(3)
    if name == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
    return {"content": [{"type": "text", "text": name}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = ANSWERS.get(message["method"]) or call(message["params"].get("name"))
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()
