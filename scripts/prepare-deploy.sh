#!/bin/sh
# Installs what `make test-deploy` needs, from Debian's packages: programs that build and run
# packages, containers, proxies and monitoring, and Wine for the Windows binary. If it has no
# permission to do so, it says what is missing and fails.
set -eu

# Each line is a program and the packages that provide it. docker-compose imports distutils, which
# Python 3.12 (Ubuntu 24.04) has no more, and setuptools has.
missing=""
while read -r program packages; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $packages"
done <<'LIST'
podman podman crun netavark aardvark-dns
buildah buildah
docker-compose docker-compose python3-setuptools
wine wine wine64
x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
promtool prometheus
caddy caddy
nginx nginx-light
mmdebstrap mmdebstrap
systemd-nspawn systemd-container
systemd-analyze systemd
age age
lintian lintian
rpm rpm
mandoc mandoc
qemu-aarch64-static qemu-user-static
LIST

[ -n "$missing" ] || exit 0
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo -n"
echo "installing$missing" >&2
# shellcheck disable=SC2086 # both are lists of words
if ! { $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null; }; then
	echo "The tests need$missing, which can't be installed from here. On Debian and Ubuntu: sudo apt-get install$missing" >&2
	exit 1
fi
