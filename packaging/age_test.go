//go:build deploy

package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBackup_Age decrypts an encrypted backup without chatguard: with age, which asks at a
// terminal, and tar.
func TestBackup_Age(t *testing.T) {
	folder := t.TempDir()
	chatguard := filepath.Join(unpacked(t, "linux", runtime.GOARCH), "chatguard")
	for name, contents := range map[string]string{
		"chatguard.toml":     "timezone = \"UTC\"\n",
		"chatguard.db.token": "{}", "chatguard.db.textkey": "000102030405060708090a0b0c0d0e0f\n",
		"passphrase": "secret words\n",
		"rows.jsonl": `{"kind":"chatguard-export","format":1,"at":"2026-03-14T20:00:00Z"}
{"kind":"channel","id":"1","login":"gardenhour"}
{"kind":"end","lines":3}
`,
	} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(contents), 0o600))
	}
	run := func(name string, args ...string) string {
		t.Helper()
		command := exec.Command(name, args...)
		command.Dir = folder
		return output(t, command)
	}
	run(chatguard, "import", "rows.jsonl")
	run(chatguard, "backup", "--encrypt", "--passphrase-file", "passphrase", "backup.age")

	age := exec.Command("age", "--decrypt", "--output", "backup.tar", "backup.age")
	age.Dir = folder
	answerInTerminal(t, age, "secret words")

	names := strings.Fields(run("tar", "-tf", "backup.tar"))
	want := "[chatguard.toml chatguard.db.token chatguard.db.textkey chatguard.db]"
	if got := fmt.Sprint(names); got != want {
		t.Errorf("the archive has %s, want %s", got, want)
	}
	elsewhere := filepath.Join(folder, "elsewhere")
	must(t, os.Mkdir(elsewhere, 0o700))
	run("tar", "-C", elsewhere, "-xf", "backup.tar")
	export := exec.Command(chatguard, "export", "-")
	export.Dir = elsewhere
	if text := output(t, export); !strings.Contains(text, `"login":"gardenhour"`) {
		t.Errorf("the database in the archive has\n%s", text)
	}
}

// answerInTerminal runs a command that asks in its terminal, and answers the first question.
func answerInTerminal(t *testing.T, command *exec.Cmd, answer string) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	defer screen.Close()
	must(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	must(t, err)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	defer terminal.Close()
	command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, command.Start())
	t.Cleanup(func() { command.Process.Kill() })
	shown := ""
	for !strings.Contains(shown, "passphrase") || !strings.HasSuffix(shown, ": ") {
		text := make([]byte, 1)
		if _, err := screen.Read(text); err != nil {
			t.Fatalf("%v after %q", err, shown)
		}
		shown += string(text)
	}
	_, err = screen.WriteString(answer + "\n")
	must(t, err)
	if err := command.Wait(); err != nil {
		t.Fatalf("%v after %q", err, shown)
	}
}
