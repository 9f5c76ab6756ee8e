.PHONY: build test check bench bench-limits demo screenshots clock-steps

# The binary, for this machine.
build:
	CGO_ENABLED=0 go build -trimpath -o chatguard ./cmd/chatguard

# The race detector looks at everything but SQLite, which is one C program in Go's clothes, with one thread to a connection: watched over, it is
# five times as slow, and so are most tests.
# What one goroutine works out about time zones (//go:build !race) runs without it, by itself: watched over, it takes five times as long.
RACE := -race -gcflags=modernc.org/...=-race=false

# Everything that must hold, with the race detector on. Installs what the tests need where it can.
test: check
	sh scripts/prepare.sh
	go test $(RACE) -timeout 14m ./...
	go test ./internal/limits
	go -C bench test ./...
	go -C examples/wschat test ./... # without the race detector: it gives up at 8,128 goroutines, and a chat of 10,000 has more

# What needs no running: format, vet, module files.
check:
	@unformatted=$$(gofmt -l .) && { [ -z "$$unformatted" ] || { echo "not formatted (gofmt -w): $$unformatted"; exit 1; }; }
	go vet ./...
	go mod tidy -diff
	go -C bench vet ./...
	go -C bench mod tidy -diff
	go -C examples/wschat vet ./...
	go -C examples/wschat mod tidy -diff

# Every figure that the documentation names.
bench:
	go test -run '^$$' -bench . -benchmem ./...
	go -C examples/wschat test -run '^$$' -bench . -benchtime 1x .

# Decisions beside other limiters, for a million users.
bench-limits:
	go -C bench run .

demo:
	go run ./cmd/chatguard demo

# The pictures in docs/, taken from the demo in Chromium.
screenshots:
	sh scripts/prepare.sh
	go test -count 1 -run TestTheDemoFillsTheDashboard ./cmd/chatguard -screenshots $(CURDIR)/docs

# Sets the wall clock of a running chatguard, and stops it for a while; ten minutes. STALLS='-stalls 75s,5m,30m' stops it for longer.
clock-steps:
	go test -tags clocksteps -count 1 -timeout 90m -v -run 'TestClockSteps|TestStalls' ./cmd/chatguard $(STALLS)
