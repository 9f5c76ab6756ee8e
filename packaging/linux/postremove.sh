#!/bin/sh
# Runs after the files are removed. The database and its backups stay, unless dpkg passes "purge". The
# user stays, too, because files of other folders may belong to it.
set -e

if [ "$1" = purge ]; then
	rm -rf /var/lib/chatguard
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
