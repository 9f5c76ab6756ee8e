.PHONY: build release quick test race race-limits browser plain test-bench test-wschat test-recipes test-shared test-proxies test-deploy test-long check check-web bench bench-limits bench-shared demo screenshots clock-steps

# What `chatguard version` prints: the last tag, and the commit if there were others since; the commit
# and its date.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
DATE := $(shell TZ=UTC git show -s --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD 2>/dev/null)
STAMP := -X main.stampedVersion=$(VERSION) -X main.stampedCommit=$(COMMIT) -X main.stampedDate=$(DATE)

# The binary, for this machine, without the tables that only debuggers need, and with the dashboard's
# files compressed.
build:
	GOOS= GOARCH= go run ./web/pack
	CGO_ENABLED=0 go build -trimpath -tags packed -ldflags "-s -w $(STAMP)" -o chatguard ./cmd/chatguard

# Archives, packages, lists of parts and checksums for all systems, in the folder dist: a snapshot,
# or the release of the tag if there is one on this commit. PUBLISH=yes uploads the release of a tag.
release:
	@PUBLISH=$(PUBLISH) sh scripts/release.sh

# Run this on every save: no browser, no race detector, fewer random cases (-short). The packages
# that take longest start first.
quick:
	go test -short -parallel 8 $(FIRST) ./...
	go -C bench test -short ./...
	go -C examples/wschat test -short ./...
	cd web && npm test --silent

# All checks and tests. Installs what the tests need, if possible. Runs three jobs at a time; if one
# fails, the others still run.
test: check
	sh scripts/prepare.sh
	@$(MAKE) --no-print-directory --keep-going --jobs=3 race browser plain race-limits check-web test-bench test-wschat test-recipes test-proxies

# These packages take longest.
FIRST := ./cmd/chatguard ./internal/app ./internal/persist ./internal/web

# The race detector does not check SQLite and scrypt. SQLite is C translated to Go, uses one thread
# for each connection, and takes five times as long with the race detector. scrypt, which encrypts
# backups, uses one goroutine and is slow on purpose.
RACE := -race -gcflags=modernc.org/...=-race=false -gcflags=golang.org/x/crypto/...=-race=false

# Tests of everything concurrent, with the race detector.
race:
	go test $(RACE) -parallel 8 -timeout 15m $(FIRST) $$(sh scripts/packages.sh concurrent | grep -v '/internal/limits$$')

# The random sequences of internal/limits use one goroutine. Fewer of them run with the race
# detector; plain runs all of them.
race-limits:
	go test $(RACE) -short -timeout 15m ./internal/limits

# Tests that open a browser window.
browser:
	sh scripts/browser.sh . examples/wschat examples/cluster

# Tests of packages that start no goroutine, in which the race detector finds nothing.
plain:
	go test ./internal/limits $$(sh scripts/packages.sh sequential)

test-bench:
	go -C bench test ./...

# Without the race detector, which stops at 8,128 goroutines: a chat of 10,000 users has more.
test-wschat:
	go -C examples/wschat test ./...

# The examples for frameworks and metrics. Each is a module of its own, whose dependencies are
# large. Without inlining, the dependencies compile in about half the time. The tag makes gin leave
# out a codec that takes as long as all its other dependencies.
RECIPES := $(filter-out examples/wschat,$(patsubst %/go.mod,%,$(wildcard examples/*/go.mod)))
RECIPEFLAGS := -vet=all -tags nomsgpack -gcflags=github.com/...=-l -gcflags=github.com/chatguard/...= -gcflags=google.golang.org/...=-l -gcflags=go.opentelemetry.io/...=-l

test-recipes:
	@for recipe in $(RECIPES); do go -C $$recipe test $(RECIPEFLAGS) ./... || failed=1; done; [ -z "$$failed" ]

# The configurations of Caddy and nginx, with chatguard behind them.
test-proxies:
	go test -tags proxy -parallel 8 ./packaging/proxy

# What several nodes allow together on a real redis-server, and on a valkey-server if there is one
# in PATH or in CHATGUARD_VALKEY_SERVER. It prints each test with its figures. The same tests are
# part of `make test`, with fewer users and intervals, and without nodes whose own clocks are wrong.
# It takes about six minutes.
test-shared:
	go test -count=1 -v -run '^Test(Shar(ed|ing)|Synchronised|Scaling|Seed|KnownRow|Guard_PolicyHash|Sweep_Shared|Exchange_Shared|Wait_Shared)' .
	go test -count=1 -v ./redisstore -users 200000
	go test -count=1 -v -run '^Test(Row|EmptyRow|ReadRow|DescribeRow|Writes|Spend|TakeUnsent|Adopt)' ./internal/limits
	go test -count=1 -v -run '^Test(Shared|Standby|Nodes_|Command_SharedStoreAway|Bot_ChannelsAtOnce|Metrics_Leader)' ./internal/control ./internal/chat ./internal/web ./dashboard
	go test -count=1 -v -run '^Test(Shared|Part|Parse_SharedPassword)' ./internal/config ./internal/app
	go test -count=1 -v -tags browser -run '^Test(NodesPage|SharedPage)' ./internal/web
	go test -count=1 -v -tags clocksteps -run '^TestShared' ./cmd/chatguard -whole
	go -C examples/cluster test -count=1 -v .

# Builds what `make release` builds for this machine, and installs and runs it: packages, units for
# systemd, the container image, monitoring, and the Windows binary under Wine. It installs Debian's
# packages for that. The tests of redisstore need Linux.
test-deploy:
	sh scripts/prepare-deploy.sh
	GOOS=windows go vet $$(go list ./... | grep -v /redisstore)
	GOOS=darwin GOARCH=arm64 go vet $$(go list ./... | grep -v /redisstore)
	go test -count=1 -timeout 60m -tags deploy ./packaging/...
	go -C packaging/monitoring/schema test -count=1 .

# Many kills, storms and random sequences, and each fuzz target for a minute. It takes hours.
test-long:
	sh scripts/test-long.sh

# Static checks: format, vet, module files. Tests that open a browser window have the build
# constraint "browser". The dashboard's files in the form that releases have are tested, too.
check:
	@unformatted=$$(gofmt -l .) && { [ -z "$$unformatted" ] || { echo "not formatted (gofmt -w): $$unformatted"; exit 1; }; }
	go vet ./...
	go vet -tags browser,clocksteps,deploy,proxy ./...
	go vet -tags generate ./cmd/chatguard
	GOOS= GOARCH= go run ./web/pack
	go vet -tags packed ./web/static
	go test -tags packed ./web/static
	go mod tidy -diff
	go -C bench vet ./...
	go -C bench mod tidy -diff
	go -C examples/wschat vet -tags browser ./...
	go -C examples/wschat mod tidy -diff
	go -C examples/cluster vet -tags browser,caddy ./...
	go -C packaging/monitoring/schema mod tidy -diff
	for recipe in $(RECIPES); do go -C $$recipe mod tidy -diff || exit 1; done

# The dashboard's modules: their types, and the tests that need no browser.
check-web:
	cd web && npm run --silent check && npm test --silent

# Benchmarks for every figure in the documentation.
bench:
	sh scripts/prepare.sh
	go test -tags browser -run '^$$' -bench . -benchmem ./...
	go -C examples/wschat test -run '^$$' -bench . -benchtime 1x .

# Compares chatguard's decisions with other rate limiters, for a million users.
bench-limits:
	go -C bench run .

# Compares limits that several nodes share over Redis with other limiters. It takes twelve minutes.
bench-shared:
	sh scripts/prepare.sh
	go -C bench run ./shared

demo:
	go run ./cmd/chatguard demo

# Takes the screenshots in docs/, of the demo in Chromium.
screenshots:
	sh scripts/prepare.sh
	go test -tags browser -count 1 -run TestDemo_Pages ./cmd/chatguard -screenshots $(CURDIR)/docs

# Changes the wall clock of a running chatguard, and stops the process for a while. It takes ten
# minutes. STALLS='-stalls 75s,5m,30m' stops it for longer.
clock-steps:
	go test -tags clocksteps -count 1 -timeout 90m -v -run 'TestClockSteps|TestStalls' ./cmd/chatguard $(STALLS)
