#!/bin/sh
# packages.sh concurrent prints the folders of the packages that start goroutines or have locks, in
# their tests, too. sync.Once and its kin, or atomic numbers alone, share nothing that can race.
# packages.sh sequential prints the folders of all other packages. Tools and packaging count as
# sequential, because they are no part of chatguard; so does internal/limits, whose concurrent tests
# the Makefile runs by name.
set -eu

root=$(go list -m -f '{{.Dir}}')
packages=$(go list -f '{{.Dir}}' ./...)
for package in $packages; do
	kind=sequential
	if grep -qE 'go func|\.Go\(|AfterFunc|http\.Server\{|sync\.[A-NP-Z]|/x/sync/' "$package"/*.go; then
		kind=concurrent
	fi
	case $package in "$root"/scripts/* | "$root"/packaging | "$root"/internal/limits | "$root"/internal/repo) kind=sequential ;; esac
	[ "$kind" != "$1" ] || echo "$package"
done
