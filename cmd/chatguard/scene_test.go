package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/waittest"
)

// threeMessages allows each user three messages per evening and deletes the rest.
const threeMessages = `
[policy]
mode = "enforce"

[[limit]]
name = "few"
algorithm = "token-bucket"
burst = 3
refill = "10h"

[penalties]
ladder = ["delete"]
`

// scene is a fake Twitch, a configuration for it, and a chatguard that runs with this
// configuration. The chatguard can stop and start again.
type scene struct {
	*testing.T
	twitch        *faketwitch.Server
	configuration string
	env           []string
	bot           *process
	deleted       []string // IDs of the expected deletions so far
}

// webToken is the owner's token for the dashboard.
const webToken = "0123456789abcdef"

func newScene(t *testing.T, more string) *scene {
	t.Helper()
	server, configuration := startTwitch(t, more)
	return &scene{T: t, twitch: server, configuration: configuration, env: []string{
		"CHATGUARD_TWITCH_TOKEN=" + server.Token(), "CHATGUARD_WEB_TOKEN=" + webToken, "CHATGUARD_FLUSH_INTERVAL=20ms",
	}}
}

// forTest returns the same scene for a subtest.
func (s *scene) forTest(t *testing.T) *scene {
	part := *s
	part.T = t
	return &part
}

// database returns the path of the bot's database.
func (s *scene) database() string {
	return filepath.Join(filepath.Dir(s.configuration), "chatguard.db")
}

// start runs chatguard and waits until it reads the chat.
func (s *scene) start(flags ...string) {
	s.Helper()
	s.bot = startCommand(s, s.runCommand(flags...))
	awaitJoined(s, s.twitch, 1)
}

func (s *scene) stop() {
	s.Helper()
	s.bot.stop(s)
}

// kill ends the bot with SIGKILL.
func (s *scene) kill() {
	s.Helper()
	must(s, s.bot.Process.Kill())
	if err := s.bot.Wait(); err == nil {
		s.Fatal("chatguard ended by itself")
	}
}

// chatguard returns a command line with the scene's configuration that ends by itself.
func (s *scene) chatguard(args ...string) *exec.Cmd {
	c := commandLine(s, append(args, "--config", s.configuration)...)
	c.Env = append(c.Env, s.env...)
	return c
}

// runCommand returns the command line of a chatguard that runs until it is stopped.
func (s *scene) runCommand(flags ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{"run", "--config", s.configuration}, flags...)...)
	c.Env = slices.Concat(os.Environ(), []string{asCommand + "=1"}, s.env)
	return c
}

// run runs a command line that must succeed, and returns its output.
func (s *scene) run(args ...string) string {
	s.Helper()
	out, err := s.chatguard(args...).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		s.Fatalf("chatguard %s: %v: %s", args[0], err, failed.Stderr)
	}
	return string(out)
}

// runWithInput runs a command with the given input, and returns its output, its standard error and
// its exit code.
func (s *scene) runWithInput(input string, args ...string) (out, complaint string, code int) {
	s.Helper()
	c := s.chatguard(args...)
	c.Stdin = strings.NewReader(input)
	return runToEnd(s, c)
}

// checkExit runs a command that must end with an exit code, and returns its standard output and
// error.
func (s *scene) checkExit(code int, args ...string) (out, complaint string) {
	s.Helper()
	out, complaint, got := runToEnd(s, s.chatguard(args...))
	if got != code {
		s.Fatalf("chatguard %s ended with %d, want exit code %d: %s", args[0], got, code, complaint)
	}
	return out, complaint
}

// checkRefused runs a command line that must fail with exit code 1, and returns the one line that
// says why.
func (s *scene) checkRefused(args ...string) string {
	s.Helper()
	out, complaint := s.checkExit(exitFailed, args...)
	line, rest, _ := strings.Cut(complaint, "\n")
	line, ours := strings.CutPrefix(line, "chatguard: ")
	if out != "" || !ours || rest != "" {
		s.Fatalf("chatguard %s wrote %q and said\n%s", args[0], out, complaint)
	}
	return line
}

func (s *scene) say(login string) (messageID string) {
	s.Helper()
	return say(s, s.twitch, login, "hello")
}

// sayAllowed sends a user's message that must not be deleted. The next sayExcess checks that the
// bot has read the message and not deleted it.
func (s *scene) sayAllowed(login string) {
	s.Helper()
	s.say(login)
}

// sayExcess sends a user's message and waits until the bot deletes it. The bot must have deleted no
// other message since.
func (s *scene) sayExcess(login string) {
	s.Helper()
	s.deleted = append(s.deleted, s.say(login))
	waitForDeletes(s.T, s.twitch, s.deleted)
}

// exhaustLimit sends three messages of a user, which threeMessages allows, and one more.
func (s *scene) exhaustLimit(login string) {
	s.Helper()
	for range 3 {
		s.sayAllowed(login)
	}
	s.sayExcess(login)
}

// forgetDeletes accepts the deletions so far.
func (s *scene) forgetDeletes() {
	s.deleted = nil
	for _, d := range s.twitch.Deletes() {
		s.deleted = append(s.deleted, d.Message.ID)
	}
}

// ask sends a request to the dashboard as its owner, with header fields as "Name: value".
func (s *scene) ask(method, path, body string, fields ...string) (*http.Response, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, s.bot.address+path, strings.NewReader(body))
	must(s, err)
	for _, field := range append([]string{"Authorization: Bearer " + webToken}, fields...) {
		name, value, _ := strings.Cut(field, ": ")
		request.Header.Set(name, value)
	}
	return send(s, http.DefaultClient, request)
}

// channel returns the channel's address in the API once the bot knows the channel, which is a
// moment after Twitch has let it join.
func (s *scene) channel() (path string) {
	s.Helper()
	path = "api/v1/channels/" + s.twitch.UserID("gardenhour")
	waittest.Until(s, func() bool {
		answer, _ := s.ask("GET", path+"/policy", "")
		return answer.StatusCode == http.StatusOK
	})
	return path
}

// change changes the channel's policy in the dashboard, and returns whether the dashboard says that
// it is saved.
func (s *scene) change(edit func(*chatguard.Policy)) (saved bool) {
	s.Helper()
	path := s.channel() + "/policy"
	answer, text := s.ask("GET", path, "")
	policy := decode[chatguard.Policy](s, text)
	edit(&policy)
	body, err := json.Marshal(policy)
	must(s, err)
	answer, text = s.ask("PUT", path, string(body), "Content-Type: application/json", "If-Match: "+answer.Header.Get("ETag"))
	if answer.StatusCode != http.StatusOK || !strings.Contains(text, `"saved":`) {
		s.Fatalf("changing the policy: %s %s", answer.Status, text)
	}
	return decode[struct{ Saved bool }](s, text).Saved
}

func decode[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// alter runs an SQL statement on the database, as another program would.
func (s *scene) alter(statement string) {
	s.Helper()
	alterDatabase(s.T, s.database(), statement)
}

func alterDatabase(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), statement)
		err = errors.Join(err, db.Close())
	}
	must(t, err)
}

// chatLines returns what clients have sent to the chat.
func (s *scene) chatLines() string {
	var b strings.Builder
	for _, r := range s.twitch.Received() {
		b.WriteString(r.Line + "\n")
	}
	return b.String()
}
