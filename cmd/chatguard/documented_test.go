//go:build unix && !race

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/programtest"
	"github.com/chatguard/chatguard/internal/turntest"
)

// notRun are the documented commands that TestPages_Commands can't run, by their beginning, and why
// not.
var notRun = []struct{ command, why string }{
	{"go run ./cmd/chatguard demo", "serves until it is ended, on a fixed port"},
	{"chatguard lab  ", "serves until it is ended, on a fixed port"},
	{"chatguard       #", "opens a browser"},
	{"docker run ", "needs an image and Docker"},
	{"docker exec -it chatguard chatguard login", "needs a person who approves it on Twitch"},
	{"docker compose run --rm chatguard login", "needs a person who approves it on Twitch"},
	{"docker compose run --rm chatguard init", "asks questions, which testdata/script/init.txtar answers"},
	{"sudo -u chatguard chatguard login", "needs a person who approves it on Twitch"},
}

// prepared are the documented commands that need something before they can run, by their
// beginning: shell commands, and whether chatguard must not run.
var prepared = []struct {
	command, before string
	stopped         bool
}{
	{"chatguard backup --encrypt --passphrase-file", "echo 'a passphrase of five words' >passphrase", false},
	{"sudo chatguard restore", "", true},
	{"docker compose run --rm chatguard restore backups/", "", true},
	{"docker compose run --rm chatguard restore chatguard-backup.age", "chatguard backup --encrypt chatguard-backup.age", true},
	{"chatguard restore", "", true},
	{"chatguard forget", "until echo n | chatguard forget anna 2>&1 | grep -q 'for good'; do :; done", false},    // until the user is written
	{"chatguard export", "until [ -e chatguard.db-wal ] && [ -e chatguard.db-shm ]; do sleep 0.05; done", false}, // until it has started
	{"chatguard import", "rm chatguard.db*", true},
	{`curl -H "Authorization: Bearer $token" -X DELETE "$api/channels/12345/users/67/pardon/$id"`, `id=$(grep -o '"id":[0-9]*' printed | cut -d : -f 2)`, false},
}

// shell has stand-ins for what a documented command begins with. They run chatguard and nothing
// else. curl fails if the answer is an error.
const shell = `set -ea
. ./variables
chatguard() { ./chatguard "$@"; }
sudo() { [ "$1" != -u ] || shift 2; shift; chatguard "$@"; }
negate() { shift 5; chatguard "$@"; }
docker() {
	case "$*" in
	"compose run --rm chatguard "*) shift 4; chatguard "$@" ;;
	"compose exec -T chatguard chatguard "*) shift 5; chatguard "$@" ;;
	*) return 2 ;;
	esac
}
go() {
	case "$*" in
	"run ./cmd/chatguard "*) shift 2; chatguard "$@" ;;
	*) command go -C "$REPOSITORY" "$@" ;;
	esac
}
curl() { command curl --fail --silent --show-error "$@"; }
`

// TestPages_Commands runs each command of the pages that calls chatguard or its API, in the order
// of the page, and expects that it succeeds.
func TestPages_Commands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	must(t, err)
	pages = append(pages, "../../README.md")
	used, commands := map[string]bool{}, map[string][]string{}
	for _, page := range pages {
		commands[page] = documentedCommands(t, page, used)
	}
	for _, page := range turntest.Sample(t, 1, pages) {
		if commands := commands[page]; len(commands) > 0 {
			t.Run(filepath.Base(page), func(t *testing.T) { newReader(t).follow(commands) })
		}
	}
	for _, n := range notRun {
		if !used[n.command] {
			t.Errorf("no page has a command that begins with %q: remove it from notRun", n.command)
		}
	}
	for _, p := range prepared {
		if !used[p.command] {
			t.Errorf("no page has a command that begins with %q: remove it from prepared", p.command)
		}
	}
}

// documentedCommand matches a line of a page's code that runs chatguard, or that calls its API.
var documentedCommand = regexp.MustCompile(`^ {4,}((\./)?chatguard(-new)?|curl|sudo( -u chatguard)? chatguard|docker (exec|run|compose (exec|run)) .*|` +
	`negate .* chatguard|export .*\(\./chatguard|go run \./cmd/chatguard|token=…|api=http\S*)\s`)

// documentedCommands returns the commands of a page that can be run, and marks what it has used of
// notRun and prepared.
func documentedCommands(t *testing.T, page string, used map[string]bool) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	var command string
next:
	for line := range strings.Lines(string(text)) {
		if command == "" && !documentedCommand.MatchString(line) {
			continue
		}
		command += strings.TrimLeft(line, " ")
		code, _, _ := strings.Cut(command, " #")
		if strings.HasSuffix(code, "\\\n") || strings.Count(code, "'")%2 == 1 {
			continue // with the next line
		}
		whole := command
		command = ""
		for _, n := range notRun {
			if strings.HasPrefix(whole, n.command) {
				used[n.command] = true
				continue next
			}
		}
		for _, p := range prepared {
			used[p.command] = used[p.command] || strings.HasPrefix(whole, p.command)
		}
		commands = append(commands, whole)
	}
	return commands
}

// reader does what a page says, beside a chatguard in a folder of its own.
type reader struct {
	*scene
	folder string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	s := newScene(t, threeMessages+"\n[check]\nchannels = [\"lobby\"]\n")
	r := &reader{scene: s, folder: filepath.Dir(s.configuration)}
	program, err := os.Executable()
	must(t, err)
	repository, err := filepath.Abs("../..")
	must(t, err)
	chat, err := twitchLog()
	must(t, err)
	for name, target := range map[string]string{"chatguard": program, "chatguard-new": program, "chat.irc.gz": chat, "variables": os.DevNull} {
		must(t, os.Symlink(target, filepath.Join(r.folder, name)))
	}
	r.env = append(r.env, "REPOSITORY="+repository, "CHATGUARD_BACKUP_PASSPHRASE=a passphrase of five words")
	return r
}

// follow runs commands one after the other, with the variables that the former ones have set.
func (r *reader) follow(commands []string) {
	r.Helper()
	for _, command := range commands {
		var before string
		stopped := false
		for _, p := range prepared {
			if strings.HasPrefix(command, p.command) {
				before, stopped = p.before, p.stopped
			}
		}
		switch runs := r.bot != nil; {
		case stopped && runs:
			r.stop()
			r.bot = nil
		case !stopped && !runs:
			r.start()
			if len(r.deleted) == 0 {
				r.exhaustLimit("anna")
			}
		}
		c := exec.Command("sh", "-c", shell+before+"\n{ "+r.here(command)+"} >printed 2>&1\nexport -p >variables.new\nmv variables.new variables\n")
		c.Dir, c.Env = r.folder, append(append(os.Environ(), asCommand+"=1"), r.env...)
		if out, err := c.CombinedOutput(); err != nil {
			printed, _ := os.ReadFile(filepath.Join(r.folder, "printed"))
			r.Errorf("%s%s%s%v", command, out, printed, err)
		}
	}
}

// here returns a command with the folders, addresses, IDs and secrets that a page can't know.
func (r *reader) here(command string) string {
	address := "127.0.0.1:0"
	switch {
	case strings.Contains(command, "/api/v1/lab"):
		lab := exec.Command(filepath.Join(r.folder, "chatguard"), "lab", "--listen", "127.0.0.1:0")
		lab.Env = append(os.Environ(), asCommand+"=1")
		address = programtest.Start(r, lab, `http://(127[^/]*)`).Found
	case r.bot != nil:
		address = strings.Trim(strings.TrimPrefix(r.bot.address, "http://"), "/")
	}
	return strings.NewReplacer(
		"/var/backups/chatguard", r.folder+"/backups", "/data/", r.folder+"/", "127.0.0.1:8080", address,
		"token=…", "token="+webToken, "12345", r.twitch.UserID("gardenhour"), "users/67", "users/"+r.twitch.UserID("anna"),
		"chatguard-TIME.db", "chatguard-*.db",
	).Replace(command)
}
