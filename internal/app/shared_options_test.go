package app

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/config"
)

// TestSharedOptions_Passwords checks that both passwords reach the store, and that errors name the
// variables to set.
func TestSharedOptions_Passwords(t *testing.T) {
	var c config.Config
	c.Shared.Password, c.Shared.SentinelPassword = "one", "two"
	opts, err := SharedOptions(c)
	if err != nil || opts.Password != "one" || opts.SentinelPassword != "two" {
		t.Errorf("%q, %q, %v", opts.Password, opts.SentinelPassword, err)
	}
	text := SharedText("set Options.SentinelPassword, or Options.Password")
	if !strings.Contains(text, "set CHATGUARD_SHARED_SENTINEL_PASSWORD, or CHATGUARD_SHARED_PASSWORD") {
		t.Error(text)
	}
}
