#!/bin/sh
# packages.sh concurrent prints the folders of the packages that start goroutines or have locks, in
# their tests, too. sync.Once and its kin, or atomic numbers alone, share nothing that can race. Tools
# and packaging are no part of chatguard. The Makefile names the concurrent tests of internal/limits.
# packages.sh sequential prints the folders of all other packages.
set -eu

packages=$(go list -f '{{.Dir}}' ./...)
for package in $packages; do
	kind=sequential
	if grep -qE 'go func|\.Go\(|AfterFunc|http\.Server\{|sync\.[A-NP-Z]|/x/sync/' "$package"/*.go; then
		kind=concurrent
	fi
	case $package in */scripts/* | */packaging | */internal/limits) kind=sequential ;; esac
	[ "$kind" != "$1" ] || echo "$package"
done
