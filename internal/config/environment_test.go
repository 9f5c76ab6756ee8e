package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
)

func TestEnvironment_OverridesFile(t *testing.T) {
	file := "timezone = \"UTC\"\n[twitch]\nchannels = [\"a\"]\nirc_tls = true\n"
	got := mustParse(t, "sub/c.toml", file, variables{
		"CHATGUARD_DATABASE":         "env.db",
		"CHATGUARD_TIMEZONE":         "Europe/Rome",
		"CHATGUARD_RETENTION":        "2d",
		"CHATGUARD_TWITCH_CLIENT_ID": "id",
		"CHATGUARD_TWITCH_CHANNELS":  "#B, c ,",
		"CHATGUARD_TWITCH_IRC_TLS":   "0",
		"CHATGUARD_TWITCH_TOKEN":     "oauth:abc",

		"CHATGUARD_TWITCH_REFRESH_TOKEN": "def",

		"CHATGUARD_WEB_LISTEN":       "127.0.0.1:9",
		"CHATGUARD_WEB_TOKEN":        "0123456789abcdef",
		"CHATGUARD_LOG_FORMAT":       "json",
		"CHATGUARD_LOG_LEVEL":        "warn",
		"CHATGUARD_POLICY_MODE":      "enforce",
		"CHATGUARD_POLICY_EXEMPT":    "",
		"CHATGUARD_PENALTIES_LADDER": "delete,timeout 1m",
		"CHATGUARD_LIMIT":            "is a list of tables",
		"CHATGUARD_NO_KEY_AT_ALL":    "1",
	})
	want := Default()
	want.Path = "sub/c.toml"
	want.Database = filepath.Join("sub", "env.db")
	want.Timezone, want.Policy.Timezone = "Europe/Rome", "Europe/Rome"
	want.Retention = Retention(2 * day)
	want.Twitch.Channels = []string{"b", "c"}
	want.Twitch.ClientID = "id"
	want.Twitch.IRCTLS = false
	want.Twitch.Token = "abc"
	want.Twitch.RefreshToken = "def"
	want.Web.Listen = "127.0.0.1:9"
	want.Web.Token = "0123456789abcdef"
	want.Log = Log{Format: LogJSON, Level: "warn"}
	want.Policy.Mode = chatguard.ModeEnforce
	want.Policy.Exempt = []chatguard.Role{}
	want.Policy.Penalties.Ladder = []chatguard.Penalty{
		{Action: chatguard.ActionDelete}, {Action: chatguard.ActionTimeout, Duration: 60e9},
	}
	assertEqual(t, "config", got, want)
}

func TestEnvironment_ErrorsNameVariable(t *testing.T) {
	const file = "timezone = \"UTC\"\n[twitch]\nchannels = [\"a\"]\n"
	for _, c := range []struct{ name, text, want string }{
		{"CHATGUARD_TIMEZONE", "Mars", `unknown timezone "Mars" (want an IANA name such as Europe/Berlin)`},
		{"CHATGUARD_DATABASE", "", `want the path of a file, such as "chatguard.db"`},
		{"CHATGUARD_FLUSH_INTERVAL", "soon", `want a duration such as "4s", "30m", "24h" or "30d", found "soon"`},
		{"CHATGUARD_TWITCH_IRC_TLS", "maybe", `want true or false, found "maybe"`},
		{"CHATGUARD_TWITCH_CHANNELS", "a,b c", `"b c" is not a channel name (want 1 to 25 letters, digits and _, as in twitch.tv/name)`},
		{"CHATGUARD_TWITCH_TOKEN", "a\r\nJOIN #b", "it contains a blank, a line break or a non-ASCII character"},
		{"CHATGUARD_TWITCH_REFRESH_TOKEN", "a b", "it contains a blank, a line break or a non-ASCII character"},
		{"CHATGUARD_TWITCH_CLIENT_SECRET", "a b", "it contains a blank, a line break or a non-ASCII character"},
		{"CHATGUARD_WEB_TOKEN", "secret", "is shorter than 16 characters: use a long random text (openssl rand -hex 24)"},
		{"CHATGUARD_WEB_TOKEN", "xxxxxxxxxxxxxxxx", "has only 1 different character, of at least 8: use a long random text (openssl rand -hex 24)"},
		{"CHATGUARD_WEB_TOKEN", "abcdefgabcdefgabcdefg", "has only 7 different characters, of at least 8: use a long random text (openssl rand -hex 24)"},
		{"CHATGUARD_WEB_TRUSTED_PROXIES", "10.0.0.7,::/0", `"::/0" is every address, so anyone could claim another's: list only the proxy's`},
		{"CHATGUARD_WEB_TOKEN", "correct horse", "it contains a blank, a line break or a non-ASCII character"},
		{"CHATGUARD_WEB_LISTEN", "8080", `"8080" is not a valid address (want host:port, such as "127.0.0.1:8080")`},
		{"CHATGUARD_LOG_LEVEL", "warning", `"warning" is not one of debug, info, warn, error`},
		{"CHATGUARD_POLICY_MODE", "on", `unknown mode "on" (known: enforce, observe)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("c.toml", []byte(file), variables{c.name: c.text}.lookup)
			assertEqual(t, "error", problem(t, err), c.name+": "+c.want)
		})
	}
}

func TestEnvironment_EachKind(t *testing.T) {
	for _, c := range []struct {
		text string
		kind reflect.Kind
		want any
	}{
		{"a, b", reflect.String, "a, b"},
		{"a, b", reflect.Slice, []any{"a", "b"}},
		{"true", reflect.Bool, true},
		{"yes", reflect.Bool, "yes"},
		{"12", reflect.Int, int64(12)},
		{"a dozen", reflect.Int, "a dozen"},
	} {
		assertEqual(t, fmt.Sprintf("%q as %s", c.text, c.kind), valueOf(c.text, c.kind), c.want)
	}
}

func TestSecret_StaysSecret(t *testing.T) {
	c := mustParse(t, "c.toml", "", variables{"CHATGUARD_TWITCH_TOKEN": "hunter2", "CHATGUARD_TWITCH_REFRESH_TOKEN": "hunter2", "CHATGUARD_TWITCH_CLIENT_SECRET": "hunter2", "CHATGUARD_WEB_TOKEN": "hunter2-and-again-hunter2"})
	asJSON, err := json.Marshal(c)
	must(t, err)
	assertEqual(t, "no secret", Secret("").String(), "unset")
	for _, text := range []string{fmt.Sprintf("%v %+v", c, c), string(asJSON)} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "hidden") {
			t.Errorf("shown: %s", text)
		}
	}
}
