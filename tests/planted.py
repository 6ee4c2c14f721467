"""Credentials planted wherever a user puts them: clients' files, environment, headers, URLs, commands, judges, stores."""

import json
import os
import sys
from pathlib import Path

import misbehaving_server
from loopback import Loopback
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

SECRETS = {
    "environment": "ghp_0123456789abcdefABCD",
    "password": "correct-horse-battery",
    "number": "8675309867530",
    "tenant": "acme-internal-7788",
    "header": "hdr-s3cr3t-value",
    "userinfo": "us3r:pa55w0rd",
    "query": "qu3ry-t0ken-value",
    "option": "opt10n-value-here",
    "assigned": "ass1gned-value-here",
    "positional": "sk4lone0word1of2letters",
    "expanded": "xpanded-from-env-1",
    "key of the judge": "sk-judge-0123456789abcdef",
    "key of the other judge": "sk-ant-0123456789fedcba",
    "key of a profile": "sk-profile-00112233445566",
    "override": "gateway-0a1b2c3d4e5f",
    "judge address": "judge-pa55w0rd",
    "bearer token": "bearer-token-0f1e2d3c",
    "store address": "st0re-pa55w0rd",
}
"""By where they stand."""


def entry(mode, *args, **env):
    return {"command": sys.executable, "args": [misbehaving_server.__file__, mode, *args], "env": env}


def home_files():
    """Five clients; the file of a sixth is malformed."""
    s = SECRETS
    return {
        ".config/Claude/claude_desktop_config.json": {
            "mcpServers": {
                "echo": entry(
                    "repeats",
                    *("--api-key", s["option"], f"--token={s['assigned']}", s["positional"], "Authorization:${HIDDEN}"),
                    API_KEY=s["environment"],
                    DB_PASSWORD=s["password"],
                    ACCOUNT=s["number"],
                    TENANT=s["tenant"],
                ),
                "dies": entry("exits-at-once", "--api-key", s["option"], TDQS_SECRET=s["environment"]),
            }
        },
        ".claude.json": {
            "mcpServers": {
                "plain": entry("plain"),
                "remote": {
                    "type": "sse",
                    "url": f"http://{s['userinfo']}@127.0.0.1:9/mcp?token={s['query']}",
                    "headers": {"X-Key": s["header"], "Authorization": "Bearer ${HIDDEN}"},
                },
            }
        },
        ".cursor/mcp.json": {
            "mcpServers": {"same": entry("plain"), "off": {**entry("plain", "OFF"), "disabled": True}, "text": "npx"}
        },
        ".config/Code/User/mcp.json": {
            "servers": {
                "asks": {"command": "touch", "args": ["started-by-asks", "${input:key}"]},
                "bad": {"url": "ftp://x"},
            }
        },
        ".gemini/settings.json": {"mcpServers": {"bare": entry("repeats", "$HIDDEN", API_KEY="${HIDDEN}")}},
        ".codeium/windsurf/mcp_config.json": '{"mcpServers": {"broken": {"env": {"K": "' + s["environment"] + '"}',
    }


def plant(folder):
    """A home and a project with these files; gives back the options by which a command runs there."""
    home, project = folder / "home", folder / "project"
    for name, content in home_files().items():
        write(home / name, content)
    write(project / ".mcp.json", {"mcpServers": {"foreign": entry("plain", "FOREIGN")}})
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
        "TDQS_CACHE": str(folder / "cache"),
        "HIDDEN": SECRETS["expanded"],
    }
    return {"cwd": project, "env": environment}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


class EchoServer(Loopback):
    """An MCP server over HTTP whose tool repeats the address and the headers of its requests; /refuses repeats them in an error."""

    def __init__(self):
        super().__init__(
            [Route("/mcp", self._answer, methods=["POST"]), Route("/refuses", self._refuse, methods=["POST"])]
        )

    def url(self, path):
        """The address with userinfo and query."""
        scheme, _, rest = self.address.partition("://")
        return f"{scheme}://{SECRETS['userinfo']}@{rest}{path}?token={SECRETS['query']}"

    async def _answer(self, request):
        body = json.loads(await request.body())
        told = " ".join([str(request.url), *request.headers.values()])
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "echo", "version": "1"},
                "instructions": f"Was asked as {told}.",
            },
            "tools/list": {
                "tools": [
                    {**misbehaving_server.GOOD, "description": f"Repeats {told}.", "_meta": {"told": [told]}},
                    misbehaving_server.ODD,
                ]
            },
        }
        if "id" not in body:
            return PlainTextResponse("", 202)
        if body["method"] not in results:
            return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32601, "message": told}})
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "result": results[body["method"]]})

    async def _refuse(self, request):
        return PlainTextResponse(" ".join([str(request.url), *request.headers.values()]), 403)
