# The command line in a container; reports are written to /data, with your own user id:
#   docker build --tag dpaudit .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/data" dpaudit run flight-als
FROM python:3.12-slim-bookworm AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim-bookworm
# LightGBM's OpenMP. Its version is the one of the Debian release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir /wheels/*.whl
RUN useradd --create-home --uid 1000 auditor && install --directory --owner=1000 --group=1000 /data
# A user id from outside has no home: caches go where everyone may write.
ENV MPLCONFIGDIR=/tmp/matplotlib PYTHONUNBUFFERED=1
USER 1000:1000
WORKDIR /data
ENTRYPOINT ["dpaudit"]
CMD ["--help"]
