package config

import (
	"strings"
	"testing"
)

// SetClientID changes or adds one line and leaves the rest unchanged.
func TestSetClientID(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"empty value":       {"# a\n[twitch] # b\nclient_id = \"\"  # c\nchannels = []\n", "# a\n[twitch] # b\nclient_id = \"abcde\"  # c\nchannels = []\n"},
		"another value":     {"[twitch]\n  client_id='old'", "[twitch]\n  client_id=\"abcde\""},
		"commented out":     {"[twitch]\n# client_id = \"\"\n", "[twitch]\nclient_id = \"abcde\"\n# client_id = \"\"\n"},
		"not there":         {"timezone = \"UTC\"\n\n[twitch]   # mine\nchannels = [\n  \"a\",\n]\n[web]\n", "timezone = \"UTC\"\n\n[twitch]   # mine\nclient_id = \"abcde\"\nchannels = [\n  \"a\",\n]\n[web]\n"},
		"in another table":  {"[web]\n[twitch]\n", "[web]\n[twitch]\nclient_id = \"abcde\"\n"},
		"Windows":           {"[twitch]\r\nchannels = []\r\n", "[twitch]\r\nclient_id = \"abcde\"\r\nchannels = []\r\n"},
		"byte order mark":   {"\uFEFF[twitch]\n", "[twitch]\nclient_id = \"abcde\"\n"},
		"UTF-16":            {"\xff\xfe[\x00", ""},
		"no line end":       {"[twitch]", "[twitch]\nclient_id = \"abcde\""},
		"no table":          {"timezone = \"UTC\"\n", "timezone = \"UTC\"\n\n[twitch]\nclient_id = \"abcde\"\n"},
		"nothing":           {"", "\n[twitch]\nclient_id = \"abcde\"\n"},
		"dotted":            {"twitch.client_id = \"\"\n", ""},
		"dotted, not there": {"twitch.channels = []\n", ""},
		"inline":            {"twitch = {channels = []}\n", ""},
		"long quotes":       {"[twitch]\nclient_id = \"\"\"\n\"\"\"\n", ""},
		"no number":         {"[twitch]\nclient_id = 12\n", ""},
		"not TOML":          {"[twitch\n", ""},
		"no end of line":    {"timezone = \"UTC\"", "timezone = \"UTC\"\n[twitch]\nclient_id = \"abcde\"\n"},
	} {
		got, err := SetClientID([]byte(c.file), "abcde")
		if string(got) != c.want || (err == nil) != (c.want != "") || err != nil && err.Error() != `write client_id = "abcde" into the table [twitch]` {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

func TestCheckClientID(t *testing.T) {
	for _, id := range []string{"", "abcd", "abc de", "abcde\"", "abcde\n", strings.Repeat("a", 101), "https://x"} {
		if CheckClientID(id) == nil {
			t.Errorf("%q passes", id)
		}
		if _, err := SetClientID(nil, id); err == nil {
			t.Errorf("%q is written", id)
		}
	}
	if err := CheckClientID("0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o"); err != nil {
		t.Error(err)
	}
}

func FuzzSetClientID(f *testing.F) {
	f.Add([]byte("[twitch]\nclient_id = \"\" # c\n[[limit]]\n"))
	f.Add([]byte("a = [1.5, 2]\n[twitch]\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := SetClientID(data, "abcde")
		if err != nil {
			return
		}
		if tree, err := parse(got); err != nil || tree["twitch"].(map[string]any)["client_id"] != "abcde" {
			t.Errorf("%v in %q", err, got)
		}
	})
}
