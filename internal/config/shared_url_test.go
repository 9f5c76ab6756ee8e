package config

import (
	"strings"
	"testing"
)

// TestParse_SharedURLWithPassword checks that no error has a password, wherever it is in the URL.
func TestParse_SharedURLWithPassword(t *testing.T) {
	for _, url := range []string{
		"redis://:geheim@127.0.0.1", "redis://127.0.0.1/0?password=geheim", "redis://far.example?password=geheim",
		"redis://127.0.0.1#geheim", "http://127.0.0.1?password=geheim", "geheim", "http://geheim",
	} {
		env := variables{"CHATGUARD_SHARED_URL": url, "CHATGUARD_SHARED_MODE": "exact"}
		if _, err := Parse("c.toml", nil, env.lookup); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
