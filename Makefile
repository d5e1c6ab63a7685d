# Everything here is a short name for a command that also works by itself.
GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS = -s -w -X anchor/internal/cli.release=$(VERSION)

.PHONY: build demo test race lint fuzz bench ci clean

build: ## a static binary, ./anchor
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o anchor .

demo: build ## the whole loop on a sample project: no key, no network
	./anchor demo

test: ## all tests
	$(GO) test ./...

race: ## all tests under the race detector
	$(GO) test -race ./...

lint: ## formatting, vet and the linters of .golangci.yml
	test -z "$$(gofmt -l . | grep -v /testdata/)"
	$(GO) vet ./...
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

bench: ## the figures of BENCHMARKS.md: whole processes, then single parts
	$(GO) test -run "^$$" -bench . -benchtime 10x . 
	$(GO) test -run "^$$" -bench . ./internal/...

ci: ## what CI runs
	bash .ci/run

clean:
	rm -rf anchor dist bin
