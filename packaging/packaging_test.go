// Package packaging checks what installs chatguard and what runs it: packages, the units for
// systemd, the container image, and the configuration of proxies and monitoring. The tests start
// the real programs, which Debian's packages provide. `make test-deploy` runs them.
package packaging

import "testing"

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
