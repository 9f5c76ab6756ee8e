#!/bin/bash
# The life of an installation on a machine without Go: start, sign in, back up, upgrade, restore,
# and what the doctor says. The functions that install, upgrade and remove come from the file $1. It
# ends with "passed" if all is well. No systemd runs here; TestUnits_Boot has one.
# shellcheck disable=SC2154 # the file sets config, folder and port
set -euo pipefail
failed() { # also ends chatguard, for which the test would wait
	echo "failed in line $1"
	kill "$(running)" || true
}
trap 'failed $LINENO' ERR
# shellcheck source=/dev/null
source "$1"

begin() { # starts chatguard, and waits until it answers
	chatguard run --config "$config" &
	process=$!
	for _ in $(seq 300); do # the end only matters if it never answers
		! chatguard status --health --config "$config" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}
running() { # prints the ID of chatguard's process
	chatguard status --json --config "$config" | grep -o '"pid": *[0-9]*' | grep -o '[0-9]*'
}
end() { # stops chatguard, which ends without an error
	kill "$(running)"
	wait "$process"
}
ask() { # ask METHOD PATH BODY [HEADER…]: prints the answer's first line
	exec 4<>"/dev/tcp/127.0.0.1/$port"
	printf '%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n' "$1" "$2" "$port" >&4
	printf 'Content-Type: application/json\r\nContent-Length: %d\r\n' "${#3}" >&4
	[ $# = 3 ] || printf '%s\r\n' "${@:4}" >&4
	printf '\r\n%s' "$3" >&4
	head -n 1 <&4
	exec 4<&-
}
refused() { # refused CODE COMMAND…: the command must fail with that code
	code=0
	"${@:2}" || code=$?
	[ "$code" = "$1" ]
}

echo "== install, and start"
install
begin
chatguard version

echo "== sign in"
link=$(chatguard signin --config "$config" | grep -o 'signin=[A-Za-z0-9_-]*')
[[ "$(ask POST /api/v1/session "{\"code\":\"${link#signin=}\"}")" = "HTTP/1.1 20"* ]]
token=$(chatguard token make anna --role own --config "$config")
server=$(chatguard token make server --role check --config "$config")
[[ "$(ask GET /api/v1/channels '' "Authorization: Bearer $token")" = "HTTP/1.1 200"* ]]
message='{"channel":"lobby","user_id":"1"}'
[[ "$(ask POST /api/v1/check "$message" "Authorization: Bearer $server")" = "HTTP/1.1 200"* ]]

echo "== status and doctor"
chatguard status --config "$config"
chatguard doctor --json --config "$config"

echo "== back up"
printf 'a passphrase of five words' >"$folder/passphrase"
chatguard backup --config "$config" "$folder/copy.db"
chatguard backup --config "$config" --encrypt --passphrase-file "$folder/passphrase" \
	"$folder/copy.age"

echo "== upgrade"
before=$(chatguard version)
end
upgrade
begin
[ "$(chatguard version)" != "$before" ]
chatguard version
[[ "$(ask GET /api/v1/channels '' "Authorization: Bearer $token")" = "HTTP/1.1 200"* ]]

echo "== restore"
chatguard token revoke anna --config "$config"
for _ in $(seq 300); do # a running chatguard looks for changed tokens every second
	answer=$(ask GET /api/v1/channels '' "Authorization: Bearer $token")
	[[ "$answer" != "HTTP/1.1 401"* ]] || break
	sleep 0.1
done
[[ "$answer" = "HTTP/1.1 401"* ]]
refused 1 chatguard restore --config "$config" "$folder/copy.db" # it runs
end
printf 'another passphrase' >"$folder/wrong"
refused 1 chatguard restore --config "$config" --passphrase-file "$folder/wrong" "$folder/copy.age"
chatguard restore --config "$config" --passphrase-file "$folder/passphrase" "$folder/copy.age"
begin
[[ "$(ask GET /api/v1/channels '' "Authorization: Bearer $token")" = "HTTP/1.1 200"* ]]
end
refused 3 chatguard status --config "$config"

echo "== doctor of a damaged database"
dd if=/dev/zero of="$folder/chatguard.db" bs=4096 count=4 conv=notrunc status=none
refused 1 chatguard doctor --json --config "$config"

echo "== remove"
remove
echo passed
