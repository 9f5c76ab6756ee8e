#!/bin/sh
# Runs after the files are installed. dpkg passes "configure" and, at an upgrade, the old version.
# rpm passes how many versions are installed.
set -e

case "$1" in
configure) [ -n "$2" ] && upgrade=yes || upgrade="" ;;
1) upgrade="" ;;
[2-9]*) upgrade=yes ;;
*) exit 0 ;;
esac

if ! getent passwd chatguard >/dev/null; then
	if command -v systemd-sysusers >/dev/null; then
		systemd-sysusers chatguard.conf
	else
		useradd --system --user-group --home-dir /var/lib/chatguard --no-create-home \
			--shell /usr/sbin/nologin chatguard
	fi
fi
# `chatguard login` may need the folder before the service has started once.
install -d -o chatguard -g chatguard -m 0700 /var/lib/chatguard

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	# At an upgrade, what runs restarts. Nothing starts by itself. A service that doesn't start again
	# must not fail the upgrade: the package would stay half configured.
	if [ -n "$upgrade" ] && ! systemctl try-restart chatguard.service; then
		echo "chatguard: the service didn't start again. To see why: systemctl status chatguard" >&2
	fi
fi
if [ -z "$upgrade" ]; then
	echo "chatguard: name your channel in /etc/chatguard/chatguard.toml."
	echo "Then run: systemctl enable --now chatguard"
fi
