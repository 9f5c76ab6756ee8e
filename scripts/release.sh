#!/bin/sh
# Builds a release into the folder dist, or into $DIST: a snapshot, or the release of the tag if
# HEAD has one. It needs Go, git and make. With PUBLISH=yes, it uploads the release of a tag to
# GitHub as a draft, which needs GITHUB_TOKEN.
set -eu
cd "$(dirname "$0")/.."

# Their own go.mod files pin the rest. They are not tools of our module, which would then depend on
# hundreds of others.
GOBIN=$PWD/build/tools
export GOBIN
go install github.com/goreleaser/goreleaser/v2@v2.15.1
go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
PATH=$GOBIN:$PATH

# Without a remote, GoReleaser would take no commit as the source of a snapshot.
if ! git remote get-url origin >/dev/null 2>&1; then
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url
	export GIT_CONFIG_VALUE_0=https://github.com/chatguard/chatguard
fi

config=.goreleaser.yaml
if [ -n "${DIST:-}" ]; then
	config=build/goreleaser.yaml
	sed "s|^dist: .*|dist: $DIST|" .goreleaser.yaml >"$config"
fi

if ! tag=$(git describe --exact-match --tags --match 'v*' HEAD 2>/dev/null); then
	exec goreleaser release --config "$config" --clean --snapshot
fi

# The notes are the version's section of the changelog.
awk -v heading="## [${tag#v}]" '
	index($0, heading) == 1 { inside = 1; next }
	/^## / { inside = 0 }
	inside
' CHANGELOG.md >build/notes.md
grep -q . build/notes.md || { echo "CHANGELOG.md has no section ## [${tag#v}]" >&2; exit 1; }
[ "${PUBLISH:-}" = yes ] || set -- --skip=publish
exec goreleaser release --config "$config" --clean --release-notes build/notes.md "$@"
