FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/seldio && \
    /opt/seldio/bin/pip install --no-cache-dir . && \
    /opt/seldio/bin/pip uninstall --yes pip

FROM python:3.13-slim
LABEL org.opencontainers.image.title="seldio" \
      org.opencontainers.image.description="Read, check, convert and score SELD and audio question answering data" \
      org.opencontainers.image.source="https://github.com/seldio/seldio" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/seldio /opt/seldio
RUN useradd --create-home --uid 1000 seldio
USER seldio
WORKDIR /data
ENV PATH="/opt/seldio/bin:$PATH"
ENTRYPOINT ["seldio"]
CMD ["--help"]
