#!/bin/sh
# Searches for bugs that the tests find only by chance. Runs many kills, storms and random
# sequences, a sample of mutants, and each fuzz target for a minute. It takes hours, continues after
# a failure, and fails at the end.
set -u
cd "$(dirname "$0")/.." || exit

failed=0
run() {
	echo "$(date +%T) $*"
	"$@" || failed=1
}

# packages prints the packages whose test files contain the given text.
packages() { git grep -lF "$1" -- '*_test.go' | sed 's|/[^/]*$||; s|^|./|' | sort -u; }

race="env CGO_ENABLED=1 go test -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false -gcflags=golang.org/x/crypto/...=-race=false"
# shellcheck disable=SC2086,SC2046 # lists of words
{
	run $race -timeout 0 -run Kill $(packages 'flag.Int("kills"') -kills 200
	run go test -timeout 0 -run PowerCut ./internal/restore -turn all
	run go test -timeout 0 -run Raid ./internal/app -turn all
	run $race -timeout 0 -run TestStorm_ManyFaults $(packages 'flag.Int("storms"') -storms 50
	run go test -timeout 0 $(packages '"pgregory.net/rapid"') -rapid.checks 10000
	run $race -timeout 0 ./internal/app -turn all
	run go test -tags browser -timeout 0 -run TestDemo_Languages ./cmd/chatguard -turn all
}

# What staticcheck finds in tests, which takes a minute after each change.
run go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags browser,clocksteps,deploy,proxy ./...
run go run ./scripts/mutants -j 2
run sh scripts/fuzz.sh 1m
exit "$failed"
