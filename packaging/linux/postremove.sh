#!/bin/sh
# Runs after the files are removed. The database and its backups stay, unless dpkg passes "purge".
# The user stays, too, because files of other folders may belong to it.
set -e

case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl daemon-reload
	fi
	;;
purge) rm -rf /var/lib/chatguard ;;
esac
