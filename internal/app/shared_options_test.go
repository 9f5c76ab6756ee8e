package app

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/config"
)

// TestSharedOptions_Passwords checks that both passwords reach the store, and that errors name the
// variables to set.
func TestSharedOptions_Passwords(t *testing.T) {
	var c config.Config
	c.Shared.Password, c.Shared.SentinelPassword = "one", "two"
	opts, err := SharedOptions(c, slog.Default())
	if err != nil || opts.Password != "one" || opts.SentinelPassword != "two" {
		t.Errorf("%q, %q, %v", opts.Password, opts.SentinelPassword, err)
	}
	text := SharedText("set Options.SentinelPassword, or Options.Password")
	if !strings.Contains(text, "set CHATGUARD_SHARED_SENTINEL_PASSWORD, or CHATGUARD_SHARED_PASSWORD") {
		t.Error(text)
	}
}

// TestSharedOptions_MissingFiles checks that a missing certificate is named with its line.
func TestSharedOptions_MissingFiles(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{`tls_ca = "/nope.pem"`, `a.toml:4: shared.tls_ca: there is no file /nope.pem: correct the path`},
		{"tls_cert = \"/own.pem\"\ntls_key = \"/key.pem\"", `a.toml:4: shared.tls_cert: there is no file /own.pem: correct the path`},
	} {
		cfg, err := config.Parse("a.toml", []byte("[shared]\nmode = \"exact\"\nurl = \"rediss://127.0.0.1\"\n"+c.keys), nil)
		must(t, err)
		if _, err := SharedOptions(cfg, slog.Default()); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
