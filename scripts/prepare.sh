#!/bin/sh
# Makes sure that what the tests need is here: a C compiler (for the race detector), Chromium (for the dashboard's tests), and what the examples in other
# languages run with.
# Installs Debian's packages where it may, and otherwise says what is missing and fails.
set -eu

missing=""
command -v "${CC:-cc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
	missing="$missing chromium"
command -v python3 >/dev/null 2>&1 || missing="$missing python3"
command -v node >/dev/null 2>&1 || missing="$missing nodejs"
command -v curl >/dev/null 2>&1 || missing="$missing curl"
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
	as_root=""
	[ "$(id -u)" = 0 ] || as_root="sudo -n"
	if [ -z "$as_root" ] || $as_root true 2>/dev/null; then
		echo "installing$missing" >&2
		log=$(mktemp)
		# shellcheck disable=SC2086 # both are lists of words
		if { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
			rm -f "$log"
			exit 0
		fi
		tail -n 20 "$log" >&2
		rm -f "$log"
	fi
fi
echo "The tests need$missing, which can't be installed from here. On Debian and Ubuntu: sudo apt-get install$missing" >&2
exit 1
