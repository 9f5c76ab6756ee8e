//go:build !race

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
)

// escapes would clear a terminal, rename it, and reverse the following text.
const escapes = "\x1b[2J\x1b]0;x\x07\x7f\u009b31m\u202e\u2066"

// checkPlain checks that an output contains nothing that a terminal would interpret. Line breaks
// and the tabs of tables are allowed.
func checkPlain(t *testing.T, what, output string) {
	t.Helper()
	for _, r := range output {
		if r != '\n' && hostile.IsInvisible(r) {
			t.Errorf("%s prints %q", what, output)
			return
		}
	}
}

// TestTerminal_HostileTexts checks that nothing from a file or an argument moves the cursor of the
// reader's terminal.
func TestTerminal_HostileTexts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, contents string) string {
		t.Helper()
		name = filepath.Join(folder, name)
		must(t, os.WriteFile(name, []byte(contents), 0o600))
		return name
	}
	quoted := func(text string) string {
		t.Helper()
		data, err := json.Marshal(text)
		must(t, err)
		return string(data)
	}
	write("chatguard.toml", "[twitch]\nchannels = [\"gardenhour\"]\n")
	policy, err := json.Marshal(config.DefaultPolicy())
	must(t, err)
	const at = `"at":"2026-01-01T00:00:00Z"`
	changes := write("changes.jsonl", `{"kind":"chatguard-export","format":5,`+at+`}
{"kind":"revision","channel":"1","number":1,"author":`+quoted("anna"+escapes)+`,`+at+`,"policy":`+string(policy)+`,"changes":[{"key":`+quoted("limit.few"+escapes+"\nnext.burst")+`,"from":null,"to":`+quoted("many"+escapes)+`},{"key":"timezone","from":"UTC","to":"Asia/Tokyo"}]}
{"kind":"channel","id":"1","login":"gardenhour"}
{"kind":"end","lines":4}
`)
	record := write("chat.jsonl", strings.Repeat(`{`+at+`,"channel":`+quoted("c"+escapes)+`,"user_id":`+quoted("u"+escapes)+`,"login":`+quoted("l"+escapes)+"}\n", 5))
	limits := write("limits.toml", "[[limit]]\nname = "+quoted("few")+"\nalgorithm = \"token-bucket\"\nburst = 3\nrefill = \"4s\"\n")
	wrongTime := write("time.jsonl", `{"kind":"chatguard-export","format":5,`+at+`}
{"kind":"setting","channel":"1","name":"x","value":"y"}
{"kind":"person","channel":"1","user_id":"7","login":"anna","roles":[],"last_seen":`+quoted("2026"+escapes)+`}
`)
	for _, test := range []struct {
		says string
		args []string
	}{
		{"", []string{"import", changes}},
		{"limit.few", []string{"policy", "show"}},
		{"Asia/Tokyo", []string{"policy", "export"}},
		{"throttled", []string{"replay", record, "--config", limits}},
		{`"throttled_messages": 2`, []string{"replay", "--json", record, "--config", limits}},
		{`"allowed":true`, []string{"replay", "--decisions", record, "--config", limits}},
		{"last_seen", []string{"import", "--replace", wrongTime}},
		{"there is no such file", []string{"replay", "no" + escapes + "file"}},
		{"unknown command", []string{"no" + escapes + "command"}},
		{"unknown flag", []string{"replay", "--no" + escapes + "flag"}},
		{"no", []string{"backup", filepath.Join(folder, "no"+escapes+"folder", "file")}},
		{"no", []string{"backup", filepath.Join(folder, "no"+escapes+"file")}},
	} {
		command := commandLine(t, test.args...)
		command.Dir = folder
		output, _ := command.CombinedOutput() // some must fail
		if !strings.Contains(string(output), test.says) {
			t.Errorf("%q prints %q, want %q", test.args, output, test.says)
		}
		checkPlain(t, strings.Join(test.args[:1], " "), string(output))
	}
}
