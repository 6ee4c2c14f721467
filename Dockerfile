# docker build -t tdqs-mcp .
# docker run -i --rm tdqs-mcp                                    # over stdio, as a client starts it
# docker build -t tdqs-registry --build-arg LOCK=requirements-registry.lock .  # with the extras sweep and postgres
# docker run --rm -p 127.0.0.1:8000:8000 -e TDQS_SERVE_TOKEN tdqs-mcp serve --http 0.0.0.0:8000 --allowed-host 127.0.0.1
FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS build
ARG LOCK=requirements.lock
WORKDIR /build
COPY pyproject.toml requirements.lock requirements-registry.lock README.md LICENSE NOTICE ./
COPY packaging/json_schemas.py packaging/json_schemas.py
COPY examples/defective.json examples/defective.json
COPY src src
RUN python -m venv /opt/tdqs-mcp \
 && /opt/tdqs-mcp/bin/pip install --no-cache-dir --require-hashes --requirement ${LOCK} \
 && /opt/tdqs-mcp/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b
COPY --from=build /opt/tdqs-mcp /opt/tdqs-mcp
RUN useradd --create-home tdqs
USER tdqs
WORKDIR /home/tdqs
EXPOSE 8000
ENTRYPOINT ["/opt/tdqs-mcp/bin/tdqs-mcp"]
CMD ["serve"]
