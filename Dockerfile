# The study server. Studies are folders below /srv/study; see "In containers" in docs/how-to/study-server.md.
FROM python:3.12-slim

RUN useradd --system --uid 10001 --home-dir /srv/study study && mkdir -p /srv/study /backups && chown study /srv/study /backups
COPY pyproject.toml README.md LICENSE /build/
COPY src /build/src
RUN pip install --no-cache-dir "/build[study]" && rm -rf /build

USER study
WORKDIR /srv/study
ENV NUMBA_CACHE_DIR=/tmp/numba
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["similitude", "study"]
CMD ["serve", "/srv/study", "--host", "0.0.0.0"]
