.PHONY: build release quick quick-go quick-modules test race browser plain recipes test-flaky test-shared test-deploy test-long check check-web bench bench-limits bench-shared demo screenshots clock-steps

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

# A build has no path of this folder in it, so another checkout finds it in Go's build cache. Without
# cgo, tests run what `make build` builds, and Go compiles SQLite once for both.
export GOFLAGS := $(GOFLAGS) -trimpath
export CGO_ENABLED := 0

# Some tests take turns; see internal/turntest.
export TEST_TURN := $(shell git rev-parse --short=12 HEAD 2>/dev/null)

# The race detector needs cgo. It does not check scrypt and the part of SQLite that is C translated
# to Go. SQLite uses one thread for each connection, and takes five times as long with the race
# detector; scrypt, which encrypts backups, uses one goroutine and is slow on purpose. A package that
# is left out must not use sync.Map, whose calls in other packages would then look like races.
RACE = CGO_ENABLED=1 $(GOTEST) -race $(patsubst %,-gcflags=%=-race=false,modernc.org/sqlite/lib modernc.org/libc/... golang.org/x/crypto/...)

# Runs go test, and a failed test once more. `make check` vets all packages, so go test needn't.
GOTEST = $(TESTRUN) $(LATER) -vet=off
TESTRUN := $(CURDIR)/build/testrun
FAILED := $(CURDIR)/build/failed-tests

build/testrun: $(wildcard scripts/testrun/*.go)
	go build -o $@ ./scripts/testrun

# Run this on every save. Without a browser and the race detector, and with -short: a part of the
# scripts, of the storms and of the tests that start programs, and no test that mostly waits.
quick: build/testrun web/node_modules
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target quick-go build/web-tested quick-modules

# The packages that take longest start first. Some mostly wait (redisstore, dashboard), so one more
# runs at once than there are cores.
quick-go: build/testrun
	@$(GOTEST) -short -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -parallel 8 -- $(FIRST) ./...

quick-modules: build/testrun
	@failed=; for module in bench examples/wschat; do (cd $$module && $(GOTEST) -short -- ./...) || failed=1; done; [ -z "$$failed" ]

# The dashboard's tests, if a file or a folder of web has changed since they began and then passed.
build/web-tested: web/node_modules $(shell find web -name node_modules -prune -o ! -name files.zip ! -name types ! -name api.d.ts -print)
	@mkdir -p build && touch $@.began && (cd web && npm test --silent) && mv $@.began $@

# All checks and tests. Installs what the tests need, if possible. Runs three jobs at a time, those
# that take longest first, and prints the output of each when it ends. If one fails, the others
# still run. A failed test runs once more at the end, alone; the last lines list the flaky tests.
test: build/testrun
	sh scripts/prepare.sh
	@echo "tests that take turns: TEST_TURN=$(TEST_TURN)"
	@rm -f $(FAILED)
	@failed=; $(MAKE) --no-print-directory --keep-going --jobs=3 --output-sync=target LATER="-later $(FAILED)" $(JOBS) || failed=1; \
	$(TESTRUN) -again $(FAILED) && [ -z "$$failed" ] && echo "all passed"

JOBS := race browser plain recipes check check-web

# These packages take longest.
FIRST := ./redisstore ./internal/web ./cmd/chatguard ./internal/app ./internal/persist ./dashboard

# Tests of everything concurrent, with the race detector. Most tests of internal/limits are long and
# use one goroutine; only those named Concurrent run here.
race: build/testrun
	@failed=; packages=$$(sh scripts/packages.sh concurrent) && $(RACE) -parallel 8 -timeout 15m -- $(FIRST) $$packages || failed=1; \
	$(RACE) -run Concurrent -- ./internal/limits || failed=1; [ -z "$$failed" ]

# Tests that open a browser window. They mostly wait for it, so more of them run at once than there
# are cores.
browser: build/testrun
	@tests=$$(sh scripts/constrained.sh browser tests) && packages=$$(sh scripts/constrained.sh browser packages) && \
	$(GOTEST) -tags browser -parallel 4 -timeout 30m -run "$$tests" -- $$packages

# Tests in which the race detector finds nothing: those of files that say so, and all other
# packages. Also chatguard behind Caddy and nginx.
plain: build/testrun
	@tests=$$(sh scripts/constrained.sh '!race' tests) && packages=$$(sh scripts/constrained.sh '!race' packages) && \
	$(GOTEST) -parallel 8 -run "$$tests" -- $$packages
	@packages=$$(sh scripts/packages.sh sequential) && $(GOTEST) -tags proxy -- $$packages ./packaging/proxy
	cd bench && $(GOTEST) -- ./...

# The examples, each a module of its own: first those whose packages, above all SQLite, the other jobs
# compile, too. So the flags for the bots name only their clients. The dependencies of the others are
# large; without inlining they compile in about half the time. The tag nomsgpack makes gin leave out
# a codec that takes as long as all its other dependencies. The race detector stops at 8,128
# goroutines; a chat of 10,000 users has more.
RECIPES := $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod))
LARGE := $(filter-out examples/wschat examples/cluster examples/bots,$(RECIPES))
BOTFLAGS := -vet=all -gcflags=github.com/bwmarrin/...=-l -gcflags=github.com/slack-go/...=-l -gcflags=gopkg.in/...=-l -gcflags=maunium.net/...=-l
LARGEFLAGS := -vet=all -tags nomsgpack -gcflags=github.com/...=-l -gcflags=github.com/chatguard/...= -gcflags=google.golang.org/...=-l -gcflags=go.opentelemetry.io/...=-l

recipes: build/testrun
	@failed=; test() { (cd $$1 && shift && $(TESTRUN) $(LATER) "$$@" -- ./...) || failed=1; }; \
	for recipe in examples/wschat examples/cluster; do test $$recipe -vet=all -tags browser; done; \
	test examples/bots $(BOTFLAGS); \
	for recipe in $(LARGE); do test $$recipe $(LARGEFLAGS); done; [ -z "$$failed" ]

# Looks for tests that depend on the machine: runs those of packages that keep time N times, beside
# two busy loops, and prints how often each package failed. It ends after TIME at the latest.
N := 20
TIME := 90m
TIMING := ./checkclient ./cmd/chatguard ./dashboard ./internal/app ./internal/chat/... ./internal/control ./internal/policies ./internal/restore ./internal/sharing ./internal/systemd ./internal/web/... ./internal/webhook ./redisstore .

test-flaky: build/testrun
	$(TESTRUN) -rates $(N) -within $(TIME) -- $(TIMING)

# What several nodes allow together on a real redis-server, and on a valkey-server if there is one
# in PATH or in CHATGUARD_VALKEY_SERVER. It prints each test with its figures. The same tests are
# part of `make test`, with fewer users, intervals and scenes, and without nodes whose own clocks are
# wrong. It takes about 25 minutes.
test-shared:
	go test -count=1 -v -run '^Test(Guard_PolicyHash|Sweep_Shared)' .
	go test -count=1 -v -timeout 60m ./internal/sharing -turn all
	go test -count=1 -v ./internal/limittest
	go test -count=1 -v -timeout 60m ./redisstore -users 200000 -turn all
	go test -count=1 -v -run '^Test(Row|EmptyRow|ReadRow|DescribeRow|Writes|Spend|TakeUnsent|Import)' ./internal/limits
	go test -count=1 -v -run '^Test(Shared|Standby|Nodes_|Command_SharedStoreAway|Bot_ChannelsAtOnce|Metrics_Leader)' ./internal/control ./internal/policies ./internal/chat ./internal/web ./dashboard
	go test -count=1 -v -run '^Test(Shared|Part|Parse_SharedPassword)' ./internal/config ./internal/app
	go test -count=1 -v -tags browser -run '^TestNodesPage' ./internal/web
	go test -count=1 -v -tags clocksteps -run '^TestShared' ./cmd/chatguard -whole -turn all
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
test-long: web/node_modules
	sh scripts/prepare.sh
	sh scripts/test-long.sh

# Static checks: format, vet, staticcheck, scripts, workflows, module files, and the API beside that of
# the newest release. The dashboard's files in the form that releases have are tested, too.
check:
	@unformatted=$$(gofmt -l .) && { [ -z "$$unformatted" ] || { echo "not formatted (gofmt -w): $$unformatted"; exit 1; }; }
	go vet -tags browser,clocksteps,deploy,proxy ./...
	go vet -tags generate ./cmd/chatguard
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tests=false ./...
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	shellcheck .ci/run $$(git ls-files '*.sh')
	GOOS= GOARCH= go run ./web/pack
	go test -tags packed ./web/static
	go mod tidy -diff
	go -C bench vet ./...
	go -C scripts/apidiff test .
	go -C scripts/apidiff run . ../..
	for module in bench packaging/monitoring/schema scripts/apidiff $(RECIPES); do go -C $$module mod tidy -diff || exit 1; done

# The dashboard's modules: their types, and the tests that need no browser.
check-web: web/node_modules
	cd web && npm run --silent check && npm test --silent

# Tools of the dashboard's tests, in the versions of web/package-lock.json.
web/node_modules: web/package-lock.json
	cd web && npm ci --no-audit --no-fund --loglevel error
	@touch $@

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
	go test -tags browser -count 1 -run "TestDemo_Pages|TestDemo_SameText" ./cmd/chatguard -screenshots $(CURDIR)/docs

# Changes the wall clock of a running chatguard, and stops the process for a while. It takes ten
# minutes. STALLS='-stalls 75s,5m,30m' stops it for longer.
clock-steps:
	go test -tags clocksteps -count 1 -timeout 90m -v -run 'TestClockSteps|TestStalls' ./cmd/chatguard $(STALLS)
