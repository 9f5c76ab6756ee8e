// Package examples runs the examples against a real chatguard.
package examples

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	guard "github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/checkclient"
)

const configuration = `
[check]
channels = ["lobby"]
[web]
listen = "127.0.0.1:0"
[policy]
mode = "enforce"
[[limit]]
name = "burst"
algorithm = "token-bucket"
burst = 3
refill = "30m"
`

// chatguard is a running instance; its folder holds the binary and the configuration.
type chatguard struct {
	folder, url, token string
}

// startChatguard builds chatguard and runs it until the test ends.
func startChatguard(t *testing.T) chatguard {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the program")
	}
	c := chatguard{folder: t.TempDir()}
	if err := os.WriteFile(filepath.Join(c.folder, "chatguard.toml"), []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", c.folder, "../cmd/chatguard").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run, log := c.command("run"), new(bytes.Buffer)
	run.Stderr = log
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Kill()
		run.Wait() // it was killed
		if t.Failed() {
			t.Logf("chatguard's log:\n%s", log)
		}
	})
	for lines := bufio.NewScanner(out); c.url == "" && lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "Dashboard: "); ok {
			c.url = strings.TrimSuffix(address, "/")
		}
	}
	if c.url == "" {
		t.Fatalf("it never says where it is\n%s", log)
	}
	token, err := c.command("token", "make", "gameserver", "--role", "check").Output()
	if err != nil {
		t.Fatal(err)
	}
	c.token = strings.TrimSpace(string(token))
	return c
}

func (c chatguard) command(args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(c.folder, "chatguard"), args...)
	command.Dir = c.folder
	return command
}

// programs lists the examples: what runs each, its file, and how it sets its time limit of 2 s.
var programs = [][]string{{"python3", "check.py", "timeout=2"}, {"node", "check.mjs", "timeout(2000"}, {"sh", "check.sh", "--max-time 2"}}

// greetings returns input lines.
func greetings(n int) string { return strings.Repeat("hello \"everyone\"\n", n) }

// ask runs one example with some input. It gives it a hundred times its time limit, because the
// machine may be busy.
func ask(t *testing.T, program []string, url, token, user, input string) (out, complaint string) {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("check", program[1]))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(code, []byte(program[2])) != 1 {
		t.Fatalf("%s doesn't set its time limit by %q", program[1], program[2])
	}
	asking := exec.Command(program[0], program[1], "lobby", user)
	asking.Dir, asking.Stdin = t.TempDir(), strings.NewReader(input)
	code = bytes.Replace(code, []byte(program[2]), []byte(program[2]+"00"), 1)
	if err := os.WriteFile(filepath.Join(asking.Dir, program[1]), code, 0o600); err != nil {
		t.Fatal(err)
	}
	asking.Env = append(os.Environ(), "CHATGUARD_URL="+url, "CHATGUARD_TOKEN="+token, "PYTHONIOENCODING=utf-8")
	var told bytes.Buffer
	asking.Stderr = &told
	answered, err := asking.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, told.String())
	}
	return string(answered), told.String()
}

// threeShown is the expected output for five lines. The wait is a little shorter than half an hour
// if the example runs slowly.
var threeShown = regexp.MustCompile(`^(shown\n){3}(dropped: wait (1800|1?[0-9]{1,3}) s\n){2}$`)

// Whatever a proxy in between answers, each line is shown. The exception is a line that chatguard
// says must be dropped and can never pass.
func TestCheck_AnswersWithoutVerdict(t *testing.T) {
	answers := []string{`{"error":"bad gateway"}`, `[]`, `5`, `null`, `{"allowed":1}`, `<html>`, `{"allowed":false,"never":true,"retry_after_ms":null}`}
	for _, program := range programs {
		next := 0
		stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, answers[next%len(answers)])
			next++
		}))
		out, complaint := ask(t, program, stub.URL, "token", "anna", greetings(len(answers)))
		stub.Close()
		if want := strings.Repeat("shown\n", 6) + "dropped: waiting doesn't help\n"; out != want || strings.Count(complaint, "unchecked: ") != 6 {
			t.Errorf("%s prints\n%s%s", program, out, complaint)
		}
	}
}

// Three lines are shown and two are dropped, and the author learns how long to wait. If there is no
// verdict, every line is shown.
func TestCheck_ShownAndDropped(t *testing.T) {
	c := startChatguard(t)
	for i, program := range programs {
		user := fmt.Sprint("user", i)
		out, complaint := ask(t, program, c.url, c.token, user, greetings(5))
		if !threeShown.MatchString(out) || complaint != "" {
			t.Errorf("%s prints\n%s%s\nwant\n%s", program, out, complaint, threeShown)
		}
		if out, complaint = ask(t, program, c.url, "wrong", user, greetings(5)); out != strings.Repeat("shown\n", 5) || strings.Count(complaint, "unchecked: ") != 5 ||
			!strings.Contains(complaint, "This token is unknown") {
			t.Errorf("%s with a wrong token prints\n%s%s", program, out, complaint)
		}
		if out, complaint = ask(t, program, "http://127.0.0.1:1", c.token, user, greetings(5)); out != strings.Repeat("shown\n", 5) || strings.Count(complaint, "unchecked: ") != 5 {
			t.Errorf("%s without chatguard prints\n%s%s", program, out, complaint)
		}
	}
}

// Lines that are too long or aren't text are limited like others: three are shown.
func TestCheck_HostileLines(t *testing.T) {
	c := startChatguard(t)
	lines := strings.Join([]string{strings.Repeat("x", 8193), "\xff\xfe", strings.Repeat("😀", 600_000), "a\x00\u2028b\u0085", `"},{"`}, "\n") + "\n"
	for i, program := range programs {
		out, complaint := ask(t, program, c.url, c.token, fmt.Sprint("spammer", i), lines)
		if !threeShown.MatchString(out) || complaint != "" {
			t.Errorf("%s prints\n%s%s\nwant\n%s", program, out, complaint, threeShown)
		}
	}
}

// The client for Go works with a running chatguard: it spends, gives back, and names a wrong token.
func TestCheckClient(t *testing.T) {
	c := startChatguard(t)
	m := guard.Message{ChannelID: "lobby", User: guard.User{ID: "anna"}, Cost: 5}
	for token, right := range map[string]bool{c.token: true, "wrong": false} {
		client, err := checkclient.New(c.url, token, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdleConnections()
		for range 2 {
			taken, verdict, err := client.CheckUpTo(t.Context(), m)
			if !right {
				if !errors.As(err, new(*checkclient.Error)) || !strings.Contains(err.Error(), "This token is unknown") {
					t.Errorf("with a wrong token: %v", err)
				}
				continue
			}
			if taken != 3 || err != nil || verdict.Degraded {
				t.Errorf("%d, %v, %v", taken, verdict, err)
			}
			if err := client.Refund(t.Context(), verdict); err != nil {
				t.Error(err)
			}
		}
	}
}
