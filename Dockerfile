# docker build -t tdqs-mcp .
# docker run -i --rm tdqs-mcp                                    # over stdio, as a client starts it
# docker run --rm -p 127.0.0.1:8000:8000 -e TDQS_SERVE_TOKEN tdqs-mcp serve --http 0.0.0.0:8000 --allowed-host 127.0.0.1
FROM python:3.13-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN python -m venv /opt/tdqs-mcp && /opt/tdqs-mcp/bin/pip install --no-cache-dir .

FROM python:3.13-slim
COPY --from=build /opt/tdqs-mcp /opt/tdqs-mcp
RUN useradd --create-home tdqs
USER tdqs
WORKDIR /home/tdqs
EXPOSE 8000
ENTRYPOINT ["/opt/tdqs-mcp/bin/tdqs-mcp"]
CMD ["serve"]
