# Everything here is a short name for a command that also works by itself.
GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS = -s -w -X anchor/internal/cli.release=$(VERSION)

.PHONY: build demo test race lint fuzz bench mcp-conformance ci clean

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

mcp-conformance: ## the official suite for MCP clients; needs Node 22 and ANCHOR_NPM, where npm installed @modelcontextprotocol/conformance
	$(GO) test -c -o bin/mcp.test ./internal/mcp
	for s in initialize tools_call sse-retry auth/metadata-default auth/metadata-var1 auth/metadata-var2 auth/metadata-var3 auth/basic-cimd \
		auth/scope-from-www-authenticate auth/scope-from-scopes-supported auth/scope-omitted-when-undefined auth/scope-step-up \
		auth/scope-retry-limit auth/token-endpoint-auth-basic auth/token-endpoint-auth-post auth/token-endpoint-auth-none \
		auth/pre-registration auth/2025-03-26-oauth-endpoint-fallback auth/resource-mismatch auth/offline-access-scope \
		auth/offline-access-not-supported; do \
		$(ANCHOR_NPM)/node_modules/.bin/conformance client --command bin/mcp.test --scenario $$s || exit 1; done

bench: ## the figures of BENCHMARKS.md: whole processes, then single parts
	$(GO) test -run "^$$" -bench . -benchtime 10x . 
	$(GO) test -run "^$$" -bench . ./internal/...

release: ## static builds for all systems with checksums, in dist/: the same bytes for the same commit
	script/release

install-test: ## a release archive in a clean Debian root; needs root and debootstrap
	script/release linux/$$($(GO) env GOARCH)
	script/test-install dist/anchor-*-linux-$$($(GO) env GOARCH).tar.gz

fleet: build ## the memory of 50 runs side by side
	script/fleet-memory 50

picture: build ## docs/session.svg, from a real run of the demo
	script/picture

container: ## an image named anchor
	docker build -f Containerfile -t anchor .

ci: ## what CI runs
	bash .ci/run

clean:
	rm -rf anchor dist bin
