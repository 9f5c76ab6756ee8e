//go:build deploy

package packaging

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWindows runs chatguard.exe under Wine, and compares it with the Linux binary.
func TestWindows(t *testing.T) {
	w := startWindows(t)
	for _, test := range []struct {
		name string
		run  func(*windows)
	}{
		{"commands", checkCommands}, {"run", checkRun}, {"demo", checkDemo},
		{"double-click", checkDoubleClick}, {"packages", checkPackages},
	} {
		t.Run(test.name, func(t *testing.T) {
			sub := *w
			sub.T = t
			test.run(&sub)
		})
	}
}

// checkCommands checks commands that need no running chatguard.
func checkCommands(w *windows) {
	if text := w.chatguard("version"); !strings.Contains(text, "windows/amd64") {
		w.Errorf("the version is %q", text)
	}
	w.write("chat.jsonl", recordedChat())
	for _, args := range [][]string{
		{"replay", "--json", "chat.jsonl"},
		{"replay", "--decisions", "chat.jsonl"},
		{"resets", "--timezone", "Europe/Berlin", // Windows has no such zones
			"--reset-at", "02:30", "--from", "2026-03-28", "--days", "3"},
		{"licenses"},
		{"help", "run"},
	} {
		if got, want := w.chatguard(args...), w.linux(args...); got != want || got == "" {
			w.Errorf("%q prints\n%.2000s\non Linux\n%.2000s", args, got, want)
		}
	}
	w.write("path.toml", "database = \"C:\\chat\\chatguard.db\"\n")
	text, err := w.try(w.command("chatguard.exe", "doctor", "--config", "path.toml"))
	if err == nil || !strings.Contains(text, `between double quotes, write \ as / or as \\`) {
		w.Errorf("a path with backslashes: %v\n%s", err, text)
	}
}

// recordedChat returns messages of three users, one of whom writes too fast.
func recordedChat() string {
	var b strings.Builder
	for second := range 60 {
		for user, every := range []int{1, 7, 20} {
			if second%every == 0 {
				fmt.Fprintf(&b, `{"at":"2026-03-14T20:00:%02dZ","channel":"room",`+
					`"user_id":"%d","login":"user%[2]d"}`+"\n", second, user)
			}
		}
	}
	return b.String()
}

// checkRun checks a chatguard that runs: commands reach it, and Ctrl-C ends it with everything
// written, which the Linux binary can read.
func checkRun(w *windows) {
	w.chatguard("init", "--check", "room", "--timezone", "Asia/Tokyo")
	configuration := strings.Replace(w.read("chatguard.toml"), `"observe"`, `"enforce"`, 1)
	w.write("chatguard.toml", configuration+"\n[web]\nlisten = \"127.0.0.1:0\"\n")
	p, address := w.start("Dashboard: ", "run")
	token := strings.TrimSpace(w.chatguard("token", "make", "server", "--role", "check"))
	const message = `{"channel":"room","user_id":"7","login":"anna"}`
	for i, allowed := range []bool{true, true, true, false} {
		answer, _ := w.ask("POST", address+"api/v1/check", message, "Authorization: Bearer "+token)
		if want := fmt.Sprintf(`"allowed":%t`, allowed); !strings.Contains(answer, want) {
			w.Errorf("check %d says %s, want %s", i+1, answer, want)
		}
	}
	w.expect(0, "state       ok", "status")
	w.expect(1, "is in use by process", "run")
	w.expect(0, "chatguard.db, in use by process", "doctor")
	configuration = strings.Replace(w.read("chatguard.toml"), `refill = "4s"`, `refill = "5s"`, 1)
	w.write("chatguard.toml", configuration)
	w.expect(0, "loaded chatguard.toml: changed limit", "reload")
	w.expect(0, "nothing has changed", "reload")
	w.expect(0, "Wrote ", "backup", "copy.db")
	if _, err := w.interrupt(p); err != nil {
		w.Errorf("after Ctrl-C: %v\n%s", err, p.log)
	}
	if _, err := os.Stat(filepath.Join(w.folder, "chatguard.db-wal")); err == nil {
		w.Error("after Ctrl-C the log isn't merged into the database")
	}
	w.expect(3, "", "status")
	got, want := stateIn(w.chatguard("export", "-")), stateIn(w.linux("export", "-"))
	if got != want || !strings.Contains(got, `"user_id":"check:7"`) {
		w.Errorf("it exports\n%s\non Linux\n%s", got, want)
	}
	w.expect(0, "Restored the database", "restore", "copy.db")
	must(w, os.Chmod(filepath.Join(w.folder, "chatguard.db"), 0o644))
	w.expect(1, `chatguard.db can be read by other users of this machine`, "doctor")
	w.expect(1, `chat guard" /inheritance:r /grant "`, "doctor")
}

// stateIn returns the lines of an export without the first one, which has its time.
func stateIn(export string) string {
	_, rest, _ := strings.Cut(export, "\n")
	return rest
}

// checkDemo checks that the demo serves the dashboard to a browser of this machine.
func checkDemo(w *windows) {
	p, link := w.start("Dashboard: ", "demo", "--listen", "127.0.0.1:0")
	address, code, ok := strings.Cut(link, "#signin=")
	if !ok {
		w.Fatalf("the link is %q", link)
	}
	if page, _ := w.ask("GET", address, ""); !strings.Contains(page, "<title>") {
		w.Errorf("the page is %.300q", page)
	}
	answer, cookie := w.ask("POST", address+"api/v1/session", fmt.Sprintf(`{"code":%q}`, code))
	if cookie == "" {
		w.Fatalf("signing in: %s", answer)
	}
	status, _ := w.ask("GET", address+"api/v1/status", "", "Cookie: "+cookie)
	if !strings.Contains(status, `"name":"owner"`) {
		w.Errorf("signed in as %.300s", status)
	}
	summary, err := w.interrupt(p)
	if !strings.Contains(summary, "messages") ||
		err != nil && !strings.Contains(p.log.String(), noRemoval) {
		w.Errorf("the demo ends with %v and says\n%s%s", err, summary, p.log)
	}
}

// checkDoubleClick checks that the window of a double-click stays until a person has read the
// error, and that they aren't told to use a command line.
func checkDoubleClick(w *windows) {
	w.goBuild("windows", "explorer.exe", "build", w.source("testdata/explorer.go"))
	must(w, os.Remove(filepath.Join(w.folder, "chatguard.toml")))
	c := w.command("explorer.exe", `.\chatguard.exe`)
	c.Stdin = strings.NewReader("\n\n\n") // no channel, no room, and Enter
	text, err := w.try(c)
	if err == nil || !strings.Contains(text, "Twitch channel") ||
		!strings.HasSuffix(strings.TrimSpace(text), "Press Enter to close this window.") {
		w.Errorf("a double-click: %v\n%s", err, text)
	}
	c = w.command("chatguard.exe")
	c.Stdin = strings.NewReader("\n\n\n")
	if text, err := w.try(c); err == nil || strings.Contains(text, "close this window") {
		w.Errorf("a command line: %v\n%s", err, text)
	}
}

// noRemoval is part of the error of Go's os.RemoveAll in Wine 8, which can't delete as Windows does
// since 2018.
const noRemoval = ": Invalid function."

// packages are packages whose tests run, with the tests that can't.
var packages = map[string][]string{
	"..":                     nil,
	"../internal/limits":     {"TestCalendar_AllZones"}, // runs the command go
	"../internal/sharing":    nil,
	"../internal/config":     nil,
	"../internal/request":    nil,
	"../internal/fileaccess": nil,
	"../internal/atomicfile": {
		"TestWrite_Link", // Wine 8 has no symbolic links
		"TestRewrite",    // root may write to any file
	},
	"../internal/persist": {
		// Symbolic links.
		"TestOpen_DanglingLink", "TestLockFile_Link", "TestDraft_LinkAppearsDuringCopy",
		// Modes of Unix.
		"TestCheckMode", "TestOpen_ReadableByOthers", "TestMigrate_EntriesOfVersion1",
		"TestOpen_StrangeFileNames", // Windows refuses them
		// Windows doesn't let go of an open file's name.
		"TestRescue_MisplacedFile",
		"^TestChanges_PendingWhileFailing$/replaced",
		"^TestFailure_VisibleAndPasses$/replaced", "^TestTimeline_KeepsOrder$/replaced",
	},
}

// checkPackages runs tests of packages that depend most on the system.
func checkPackages(w *windows) {
	for name, skipped := range packages {
		program := strings.ReplaceAll(strings.TrimPrefix(name, "../"), "/", "-") + ".test.exe"
		w.goBuild("windows", program, "test", "-c", name)
		c := w.command(filepath.Join(w.folder, program), "-test.short", "-test.timeout=10m",
			"-test.skip="+strings.Join(skipped, "|"))
		c.Dir = w.source(name)
		text, err := w.try(c)
		failures := realFailures(text)
		if failures != "" || err != nil && !strings.Contains(text, noRemoval) {
			w.Errorf("%s: %v\n%s", name, err, failures)
		}
	}
}

// logged are lines that tests log even if they pass.
var logged = regexp.MustCompile(`_test\.go:\d+: (\[rapid\] OK|seed \d+$|\d+ acknowledged changes)`)

// realFailures returns the lines that tests print, without those that say that a temporary folder
// couldn't be deleted.
func realFailures(text string) (failures string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch word := strings.TrimSpace(line); {
		case strings.Contains(word, "TempDir RemoveAll cleanup") && strings.HasSuffix(word, noRemoval):
		case strings.HasPrefix(word, "--- FAIL:"), word == "FAIL", word == "PASS", word == "",
			logged.MatchString(word):
		default:
			failures += line + "\n"
		}
	}
	return failures
}
