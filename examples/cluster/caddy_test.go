//go:build caddy

package main

import "testing"

// Caddy balances over the nodes as the Caddyfile says. It must be installed.
func TestRun_Caddy(t *testing.T) {
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	testRun(t, settings{listen: address, caddy: true})
}
