#!/bin/sh
# Writes the licences of everything in a chatguard binary to cmd/chatguard/licenses.txt: chatguard's
# own, Go's, Unicode's for its data, and those of each module of a build for Linux, macOS or Windows.
# Run it when a dependency changes; a test fails until you do. It needs only the downloaded modules.
set -eu
cd "$(dirname "$0")/.."

# modules prints "path version folder systems" for each module. systems are the systems that need
# it.
modules() {
	for system in darwin linux windows; do
		GOOS=$system go list -deps -f "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}} $system{{end}}{{end}}" ./cmd/chatguard
	done | sort -u | awk '{ key = $1 " " $2 " " $3; all[key] = all[key] (all[key] ? "," : "") $4 } END { for (key in all) print key, all[key] }' | sort
}

# section prints a heading and the licence files in a folder.
section() {
	printf '==== %s\n\n' "$1"
	found=""
	for file in "$2"/LICENSE* "$2"/COPYING* "$2"/NOTICE* "$2"/PATENTS*; do
		[ -f "$file" ] || continue
		found=yes
		tr -d '\r' <"$file"
		printf '\n\n'
	done
	[ -n "$found" ] || { echo "$1 has no licence file in $2" >&2; exit 1; }
}

{
	section chatguard .
	section Go "$(go env GOROOT)"
	section "Unicode data" internal/fingerprint
	modules | while read -r path version folder systems; do
		[ "$systems" = darwin,linux,windows ] && systems="" || systems=" ($systems)"
		section "$path $version$systems" "$folder"
	done
} >cmd/chatguard/licenses.txt.new
mv cmd/chatguard/licenses.txt.new cmd/chatguard/licenses.txt
