# Gradgraph as a service: the page is built first, then everything is installed into one slim image.
# docker build --build-arg TORCH_INDEX_URL=<an index of PyTorch's CPU wheels> -t gradgraph .

FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
# The CPU build of torch is a tenth of the CUDA one; without the argument pip takes what its own index has.
ARG TORCH_INDEX_URL=
COPY constraints.txt ./
RUN python -m venv /opt/gradgraph \
 && /opt/gradgraph/bin/pip install ${TORCH_INDEX_URL:+--index-url "$TORCH_INDEX_URL"} "$(grep '^torch==' constraints.txt)"
COPY pyproject.toml build_frontend.py README.md LICENSE ./
COPY engine engine
COPY server server
COPY gallery gallery
COPY frontend frontend
RUN /opt/gradgraph/bin/pip install -c constraints.txt '.[png,pdf,cluster]'

FROM python:3.11-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends libseccomp2 fonts-noto-cjk \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin gradgraph \
 && install -d -o 10001 -g 10001 /data
COPY --from=build /opt/gradgraph /opt/gradgraph
ENV PATH=/opt/gradgraph/bin:$PATH PYTHONUNBUFFERED=1 \
    GRADGRAPH_HOST=0.0.0.0 GRADGRAPH_PORT=8000 GRADGRAPH_DATA_DIR=/data
USER 10001:10001
WORKDIR /
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
CMD ["python", "-m", "server"]
