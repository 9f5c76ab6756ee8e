#!/bin/bash
# Runs as root in a booted Debian with chatguard's package, and ends with "passed" if its units do
# what they should.
set -euo pipefail
failed() {
	echo "failed in line $1"
	systemctl status --no-pager --lines 30 chatguard chatguard.socket || true
}
trap 'failed $LINENO' ERR

config=/etc/chatguard/chatguard.toml
state() { systemctl show --value --property "$1" "${2:-chatguard}"; }
page() {
	curl --silent --show-error --max-time 30 --output /dev/null --write-out '%{http_code}' "$1"
}
as_chatguard() { runuser -u chatguard -- chatguard "$@" --config "$config"; }
refused() { # refused COMMAND…: the command must fail
	if "$@"; then
		echo "$* succeeded"
		return 1
	fi
}
become() { # become COMMAND WANT: waits until the command prints what is wanted
	for _ in $(seq 600); do # the end only matters if it never does
		[ "$(eval "$1")" != "$2" ] || return 0
		sleep 0.1
	done
	echo "$1 is $(eval "$1"), want $2"
	return 1
}
override() { # override UNIT [LINE…]: replaces earlier overrides
	folder=/run/systemd/system/$1.d
	mkdir -p "$folder"
	printf '%s\n' "${@:2}" >"$folder/override.conf"
	systemctl daemon-reload
}

echo "== start"
cat >"$config" <<'TOML'
database = "/var/lib/chatguard/chatguard.db"

[twitch]
channels = ["gardenhour"]
irc_address = "127.0.0.1:9"
irc_tls = false

[check]
channels = ["lobby"]
TOML
chown root:chatguard "$config"
chmod 640 "$config"
systemctl start chatguard
[ "$(page http://127.0.0.1:8080/)" = 200 ]
[[ "$(state StatusText)" = "observing in 1 channel, joining 1 channel; Twitch "* ]]
[ "$(stat -c '%U %a' /var/lib/chatguard)" = "chatguard 700" ]
[ "$(stat -c '%U %a' /var/lib/chatguard/chatguard.db)" = "chatguard 600" ]
as_chatguard signin | grep -q '#signin='

echo "== reload"
sed -i 's/lobby/hall/' "$config"
systemctl reload chatguard
journalctl -u chatguard --output cat | grep -q 'changed check.channels'
sed -i 's/hall/hall" "/' "$config"
refused systemctl reload chatguard
[ "$(state ActiveState)" = active ]

echo "== a wrong configuration"
refused systemctl restart chatguard
[ "$(state ExecMainStatus) $(state ActiveState) $(state NRestarts)" = "2 failed 0" ]
[[ "$(state StatusText)" = "$config:9: "* ]]
sed -i 's/hall" "/hall/' "$config"

echo "== the socket"
systemctl start chatguard
systemctl stop chatguard # systemd refuses the socket while the service runs
systemctl enable --now chatguard.socket
refused as_chatguard run 2>/tmp/by-hand
grep -q '127.0.0.1:8080 is in use by systemd, for chatguard.socket: ' /tmp/by-hand
systemctl start chatguard
[ "$(page http://127.0.0.1:8080/)" = 200 ]
[ "$(state ActiveState)" = active ]
kill -KILL "$(state MainPID)"
[ "$(page http://127.0.0.1:8080/)" = 200 ] # waits for the restart
[ "$(state NRestarts)" = 1 ]
systemctl disable --now chatguard.socket
systemctl stop chatguard

echo "== a socket below 1024"
override chatguard.socket '[Socket]' ListenStream= ListenStream=127.0.0.1:80
systemctl start chatguard.socket
[ "$(page http://127.0.0.1/)" = 200 ]
systemctl stop chatguard.socket chatguard

echo "== a socket open to other machines"
override chatguard.socket '[Socket]' ListenStream= ListenStream=0.0.0.0:8080
systemctl start chatguard.socket
refused systemctl start chatguard
open="chatguard.socket: 0.0.0.0:8080 is open to other machines: set tls_cert "
[[ "$(state StatusText)" = "$open"* ]]
systemctl stop chatguard.socket
override chatguard.socket

echo "== the watchdog"
override chatguard.service '[Service]' WatchdogSec=2s RestartSec=0
systemctl start chatguard
fed() { state WatchdogTimestampMonotonic; }
for _ in 1 2 3; do
	# shellcheck disable=SC2034 # become uses it
	last=$(fed)
	# shellcheck disable=SC2016 # become evaluates it
	become '[ "$(fed)" = "$last" ] || echo fed' fed
done
[ "$(state NRestarts)" = 0 ]
kill -STOP "$(state MainPID)"
become 'state NRestarts' 1
become 'state ActiveState' active
journalctl -u chatguard --output cat | grep -q 'Watchdog timeout (limit 2s)!'
journalctl -u chatguard --output cat | grep -q 'SIGABRT: abort' # with all goroutines
journalctl -u chatguard --output cat --priority warning | grep -q 'msg="twitch chat"'
refused ls /var/lib/systemd/coredump/* /var/lib/chatguard/core*

echo "== the backup"
override chatguard-backup.timer '[Timer]' OnCalendar= 'OnCalendar=*:*:*' RandomizedDelaySec=0 \
	AccuracySec=1ms
backups=/var/lib/chatguard/backups
install -d -o chatguard -g chatguard -m 700 "$backups"
for day in $(seq -w 1 20); do
	install -o chatguard -m 600 /dev/null "$backups/chatguard-202001${day}T040000Z.db"
done
install -o chatguard -m 600 /dev/null "$backups/mine.db"
systemctl start chatguard-backup.timer
become 'cd /var/lib/chatguard/backups && ls chatguard-*.db | wc -l' 14
systemctl stop chatguard-backup.timer
become 'state ActiveState chatguard-backup.service' inactive
[ "$(state Result chatguard-backup.service)" = success ]
[ -f "$backups/mine.db" ]
systemctl stop chatguard
newest=$(find "$backups" -name 'chatguard-*.db' | sort | tail -n 1)
[ "$(stat -c '%U %a' "$newest")" = "chatguard 600" ]
as_chatguard restore "$newest"
systemctl start chatguard
[ "$(page http://127.0.0.1:8080/)" = 200 ]

echo "== stop"
systemctl stop chatguard
[ "$(state Result) $(state ExecMainStatus)" = "success 0" ]
echo passed
