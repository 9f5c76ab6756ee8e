#!/bin/sh
# Runs before the files are removed. dpkg passes "remove", rpm 0; at an upgrade, chatguard keeps
# running until postinstall.sh restarts it.
set -e

case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac

if [ -d /run/systemd/system ]; then
	systemctl disable --now chatguard.service chatguard.socket chatguard-backup.timer
	systemctl stop chatguard-backup.service
fi
