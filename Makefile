.PHONY: build test check bench demo screenshots

# The binary, for this machine.
build:
	CGO_ENABLED=0 go build -trimpath -o chatguard ./cmd/chatguard

# Everything that must hold, with the race detector on. Installs what the tests need where it can.
test: check
	sh scripts/prepare.sh
	go test -race -timeout 14m ./...

# What needs no running: format, vet, module files.
check:
	@unformatted=$$(gofmt -l .) && { [ -z "$$unformatted" ] || { echo "not formatted (gofmt -w): $$unformatted"; exit 1; }; }
	go vet ./...
	go mod tidy -diff

# Every figure that the documentation names.
bench:
	go test -run '^$$' -bench . -benchmem ./...

demo:
	go run ./cmd/chatguard demo

# The pictures in docs/, taken from the demo in Chromium.
screenshots:
	sh scripts/prepare.sh
	go test -count 1 -run TestTheDemoFillsTheDashboard ./cmd/chatguard -screenshots $(CURDIR)/docs
