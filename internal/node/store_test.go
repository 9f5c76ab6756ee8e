package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/redisstore"
)

// TestOptions_Passwords checks that both passwords reach the store.
func TestOptions_Passwords(t *testing.T) {
	var c config.Config
	c.Shared.Password, c.Shared.SentinelPassword = "one", "two"
	opts, err := optionsOf(c, slog.Default())
	if err != nil || opts.Password != "one" || opts.SentinelPassword != "two" {
		t.Errorf("%q, %q, %v", opts.Password, opts.SentinelPassword, err)
	}
}

// TestOptions_Names checks that an operator has a name for each option of the store that the
// configuration sets, for each Placement, and for whatever else the store's texts name.
func TestOptions_Names(t *testing.T) {
	for field := range reflect.TypeFor[redisstore.Options]().Fields() {
		switch field.Name {
		case "Logger", "NameOf", "Version", "Describe": // set by the program
		case "SentinelUsername": // can't be configured
		default:
			if optionName(field.Name) == "" {
				t.Errorf("Options.%s has no name", field.Name)
			}
		}
	}
	for key, placement := range placements {
		c := config.Config{}
		c.Shared.Placement, c.Shared.Mode, c.Shared.URL = key, config.ShareExact, "redis+cluster://127.0.0.1"
		c.Policy.Limits = []chatguard.Limit{{Name: "all", Per: chatguard.PerEverywhere}}
		if placement == redisstore.PlaceTogether {
			continue // it suits every policy
		}
		want := `on a Cluster, "` + key + `" as shared.placement doesn't suit the limit "all", which all channels share: set it to "together", and another shared.namespace, on all nodes`
		if text := Unshareable(c, c.Policy); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	files, err := filepath.Glob("../../redisstore/*.go")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, called := range regexp.MustCompile(`ameOf\("([^"]+)"\)`).FindAllStringSubmatch(string(text), -1) {
			if optionName(called[1]) == "" {
				t.Errorf("%s: %s has no name", file, called[1])
			}
		}
	}
}

// TestCheckPolicies_TextKey checks that nodes that share limits on repeated text need a secret.
func TestCheckPolicies_TextKey(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Path = "chatguard.toml"
	repeats := chatguard.Policy{Limits: []chatguard.Limit{{Name: "copies", Per: chatguard.PerText}}}
	const want = `nodes that share the limit "copies", on repeated text, need the same key: set CHATGUARD_SHARED_TEXT_KEY to the same long random text on all nodes (openssl rand -hex 24)`
	for mode, refused := range map[string]bool{config.ShareOff: false, config.ShareShares: false, config.ShareExact: true, config.ShareSynchronised: true} {
		c.Shared.Mode = mode
		for _, key := range []config.Secret{"", "the same long random text"} {
			c.Shared.TextKey = key
			if text := Unshareable(c, repeats); (text != "") != (refused && key == "") || text != "" && text != want {
				t.Errorf("%s, key %v: %q", mode, key, text)
			}
			must(t, CheckPolicies(c))
			c.Channels = map[string]chatguard.Policy{"gardenhour": repeats}
			if err := CheckPolicies(c); (err != nil) != (refused && key == "") || err != nil && err.Error() != "chatguard.toml: shared.text_key: "+want {
				t.Errorf("%s, key %v, in a channel: %v", mode, key, err)
			}
			c.Channels = nil
		}
	}
}

// TestOptions_Problems checks that what an operator reads of the store names no Go option.
func TestOptions_Problems(t *testing.T) {
	t.Parallel()
	locked := redistest.Start(t, "--requirepass", "s3cret")
	for _, test := range []struct{ url, node, want string }{
		{locked.URL(), "", "the server asks for a password: set CHATGUARD_SHARED_PASSWORD"},
		{"redis://anna:wrong@" + locked.Addr(), "", "correct CHATGUARD_SHARED_PASSWORD, or the user in shared.url"},
		{"redis://192.0.2.1", "", "allow it with shared.insecure"},
		{locked.URL(), "a b", `shared.node "a b" may only have`},
	} {
		c := config.Default()
		c.Shared.Mode, c.Shared.URL, c.Shared.Node, c.Shared.Timeout = config.ShareExact, test.url, test.node, 5*time.Second
		_, err := OpenStore(t.Context(), c, slog.New(slog.DiscardHandler), func(*redisstore.Options) {})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "Options") {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

// TestOptions_MissingFiles checks that a missing certificate is named with its line.
func TestOptions_MissingFiles(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{`tls_ca = "/nope.pem"`, `a.toml:4: shared.tls_ca: there is no file /nope.pem: correct the path`},
		{"tls_cert = \"/own.pem\"\ntls_key = \"/key.pem\"", `a.toml:4: shared.tls_cert: there is no file /own.pem: correct the path`},
	} {
		cfg, err := config.Parse("a.toml", []byte("[shared]\nmode = \"exact\"\nurl = \"rediss://127.0.0.1\"\n"+c.keys), nil)
		must(t, err)
		if _, err := optionsOf(cfg, slog.Default()); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
