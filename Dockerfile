# The image of chatguard: one static binary, no shell, no root.
#
#     docker build -t chatguard .
#     docker run --rm -p 127.0.0.1:8080:8080 chatguard demo --listen 0.0.0.0:8080
#
# That builds the binary from this folder. With --target release, nothing is compiled: the image
# gets the file BINARY of the context, which also needs the folder packaging/container/data. With
# EACH=yes, each processor has a file of its own, such as chatguard-amd64.

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=unknown
ARG REVISION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make build VERSION=$VERSION COMMIT=$REVISION

FROM scratch AS image
ARG VERSION=unknown
ARG REVISION
LABEL org.opencontainers.image.title="chatguard" \
      org.opencontainers.image.description="Gives every chatter a fair share of the conversation" \
      org.opencontainers.image.source="https://github.com/chatguard/chatguard" \
      org.opencontainers.image.documentation="https://github.com/chatguard/chatguard/blob/main/docs/container.md" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --chown=65532:65532 packaging/container/data /data
# The only folder that can be written to is /data, also for the demo's temporary files. A demo that
# is killed leaves them in its volume. `docker run --rm` deletes a volume without a name.
ENV PATH=/ TMPDIR=/data
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["/chatguard", "status", "--health"]
ENTRYPOINT ["/chatguard"]
CMD ["run"]

FROM image AS release
ARG BINARY=chatguard
ARG EACH
ARG TARGETARCH
COPY ${BINARY}${EACH:+-$TARGETARCH} /chatguard

FROM image
COPY --from=build /src/chatguard /chatguard
