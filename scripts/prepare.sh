#!/bin/sh
# Checks that everything the tests need is installed: a C compiler (for the race detector), Chromium
# and Node.js (for the dashboard's tests), the languages of the examples, a Redis server (for limits
# that several nodes share), and the proxies Caddy and nginx. If something is missing, the script
# installs Debian's packages. If it has no permission to do so, it says what is missing and fails.
set -eu

missing=""
command -v "${CC:-cc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
browser=""
instead=" chromium" # where there is no chromium-headless-shell; Ubuntu has neither
for name in chromium chromium-browser google-chrome; do
	command -v "$name" >/dev/null 2>&1 && browser=$name && instead=""
done
better=""
if ! command -v chromium-headless-shell >/dev/null 2>&1; then
	# It needs half the processor time of a whole Chromium. If there is one, the tests don't need more.
	if [ -n "$browser" ]; then better=" chromium-headless-shell"; else missing="$missing chromium-headless-shell"; fi
fi
command -v python3 >/dev/null 2>&1 || missing="$missing python3"
# The pages' tests need Node.js 18.19 (Debian 12), for node --test.
node -e 'const [major, minor] = process.versions.node.split("."); process.exit(Number(major * 100 + Number(minor) < 1819))' >/dev/null 2>&1 || missing="$missing nodejs"
command -v npm >/dev/null 2>&1 || missing="$missing npm"
command -v curl >/dev/null 2>&1 || missing="$missing curl"
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
command -v shellcheck >/dev/null 2>&1 || missing="$missing shellcheck"
command -v caddy >/dev/null 2>&1 || missing="$missing caddy"
PATH=$PATH:/usr/sbin command -v nginx >/dev/null 2>&1 || missing="$missing nginx-light"

if [ -n "$missing$better" ] && command -v apt-get >/dev/null 2>&1; then
	as_root=""
	[ "$(id -u)" = 0 ] || as_root="sudo -n"
	if [ -z "$as_root" ] || $as_root true 2>/dev/null; then
		missing=$missing$better
		echo "installing$missing" >&2
		log=$(mktemp)
		# shellcheck disable=SC2086 # both are lists of words
		if { $as_root apt-get update && {
			apt-cache show chromium-headless-shell >/dev/null 2>&1 || missing=$(echo "$missing" | sed "s/ chromium-headless-shell/$instead/")
		} && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
			# Debian starts installed proxies on port 80. The tests start their own.
			for proxy in caddy nginx; do
				case "$missing" in *" $proxy"*) [ ! -d /run/systemd/system ] || $as_root systemctl disable --now --quiet $proxy >&2 ;; esac
			done
			missing=""
		else
			tail -n 20 "$log" >&2
			missing=${missing%"$better"}
		fi
		rm -f "$log"
	fi
fi
if [ -n "$missing" ]; then
	echo "The tests need$missing, which can't be installed from here. On Debian and Ubuntu: sudo apt-get install$missing" >&2
	exit 1
fi
