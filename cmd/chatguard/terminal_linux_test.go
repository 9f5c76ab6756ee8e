//go:build !race

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/term"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/doctor"
	"github.com/chatguard/chatguard/internal/waittest"
)

// openTerminal returns a terminal for a process, and its screen.
func openTerminal(t *testing.T) (terminal, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { screen.Close() })
	must(t, screen.SetReadDeadline(time.Now().Add(maxWait)))
	raw, err := screen.SyscallConn()
	must(t, err)
	var unlock, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if err := raw.Control(func(fd uintptr) { // Fd would end the deadline
			if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value))); failed != 0 {
				t.Fatal(failed)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { terminal.Close() })
	return terminal, screen
}

// TestSigninLink_TerminalOnly checks that the link is printed only to a terminal.
// Elsewhere, anyone who can read the logs could sign in as the owner.
func TestSigninLink_TerminalOnly(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--no-database"}} {
		s := newScene(t, threeMessages)
		terminal, screen := openTerminal(t)
		run := s.runCommand(flags...)
		run.Stdout = terminal
		must(t, run.Start())
		t.Cleanup(func() { run.Process.Kill() })
		s.bot = &process{Cmd: run}
		code := ""
		for lines := bufio.NewScanner(screen); code == "" && lines.Scan(); {
			if link, ok := strings.CutPrefix(lines.Text(), "Dashboard: "); ok {
				s.bot.address, code, _ = strings.Cut(link, "#signin=")
			}
		}
		if name := s.signedInName(s.signIn(fmt.Sprintf(`{"code":%q}`, code))); name != auth.OwnerName {
			t.Errorf("%v: the link signs in as %q", flags, name)
		}
		s.stop()

		s.start(flags...)
		if strings.Contains(s.bot.address, "signin") {
			t.Errorf("%v: in a pipe it prints %q", flags, s.bot.address)
		}
		s.stop()
	}
}

// TestDoctor_Colors checks that findings have colors in a terminal, unless NO_COLOR is set.
func TestDoctor_Colors(t *testing.T) {
	for noColor, want := range map[string]string{"": "\x1b[31mproblem\x1b[0m  clock", "1": "problem  clock"} {
		t.Setenv("NO_COLOR", noColor)
		t.Setenv("TERM", "xterm")
		terminal, screen := openTerminal(t)
		must(t, printFinding(terminal, "clock", doctor.Finding{State: doctor.Problem, Found: "it is late"}))
		line, err := bufio.NewReader(screen).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("NO_COLOR=%q: %q, %v, want %q", noColor, line, err, want)
		}
	}
}

// TestProgress_InTerminal checks that in a terminal, each state replaces the previous one and fits
// on a line, and that the last one is cleared. A dumb terminal gets whole lines, as a file does.
func TestProgress_InTerminal(t *testing.T) {
	for name, want := range map[string]string{"xterm": "\r\x1b[K123456789\r\x1b[K123456789\r\x1b[K.\r\n", "dumb": ".\r\n"} {
		t.Setenv("TERM", name)
		terminal, screen := openTerminal(t)
		setWidth(t, terminal, 10)
		clock, done, ended := make(chan time.Time), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			showProgress(terminal, func() string { return "1234567890 rows" }, clock, done)
		}()
		for range 3 {
			clock <- time.Time{}
		}
		close(done)
		<-ended
		fmt.Fprintln(terminal, ".")
		if got, err := bufio.NewReader(screen).ReadString('\n'); got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// setWidth sets the number of columns of a terminal.
func setWidth(t *testing.T, terminal *os.File, columns uint16) {
	t.Helper()
	size := [4]uint16{24, columns}
	if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, terminal.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); failed != 0 {
		t.Fatal(failed)
	}
}

// TestDoctor_TerminalWidth checks that findings are wrapped at the terminal's width, within bounds.
func TestDoctor_TerminalWidth(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	text := strings.TrimSpace(strings.Repeat("word ", 40))
	for columns, want := range map[uint16]int{0: 100, 20: 60, 80: 80, 300: 120} {
		terminal, screen := openTerminal(t)
		setWidth(t, terminal, columns)
		must(t, printFinding(terminal, "clock", doctor.Finding{State: doctor.OK, Found: text}))
		line, err := bufio.NewReader(screen).ReadString('\n')
		if n := len(strings.TrimSpace(line)); err != nil || n > want || n <= want-len(" word") {
			t.Errorf("%d columns: a line of %d, %v, want at most %d", columns, n, err, want)
		}
	}
}

// TestIsTerminal_NullDevice checks that the null device is no terminal, so that nothing asks it.
func TestIsTerminal_NullDevice(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	defer null.Close()
	if isTerminal(null) {
		t.Error("the null device is a terminal")
	}
}

// passphraseTerminal runs a command in a terminal, and types answers to its questions. It returns
// all that the terminal showed. An empty answer is an interrupt.
func passphraseTerminal(t *testing.T, command *exec.Cmd, dialog ...[2]string) (shown string, code int) {
	t.Helper()
	terminal, screen := openTerminal(t)
	before, err := term.GetState(int(terminal.Fd()))
	must(t, err)
	command.Stdin, command.Stdout, command.Stderr = terminal, terminal, terminal
	must(t, command.Start())
	t.Cleanup(func() { command.Process.Kill() })
	for _, d := range dialog {
		for !strings.HasSuffix(shown, d[0]) {
			text := make([]byte, 1)
			if _, err := screen.Read(text); err != nil {
				t.Fatalf("%v after %q", err, shown)
			}
			shown += string(text)
		}
		// The question comes before the terminal is told to be silent.
		waittest.Until(t, func() bool {
			now, err := term.GetState(int(terminal.Fd()))
			return err == nil && !reflect.DeepEqual(now, before)
		})
		if d[1] == "" {
			command.Process.Signal(os.Interrupt)
		} else if _, err := screen.WriteString(d[1] + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	command.Wait() // its exit code is the result
	fmt.Fprint(terminal, "END")
	for !strings.HasSuffix(shown, "END") {
		text := make([]byte, 1)
		if _, err := screen.Read(text); err != nil {
			t.Fatalf("%v after %q", err, shown)
		}
		shown += string(text)
	}
	if after, err := term.GetState(int(terminal.Fd())); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the terminal has another state than before: %v", err)
	}
	return shown, command.ProcessState.ExitCode()
}

// TestPassphrase_InTerminal checks that a passphrase isn't shown, and that the terminal shows again
// what people type, also after an interrupt.
func TestPassphrase_InTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("it encrypts on purpose slowly")
	}
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.stop()
	file := filepath.Join(t.TempDir(), "backup.age")
	const first, again = "Passphrase: ", "The same again: "
	backup := func() *exec.Cmd { return s.chatguard("backup", "--encrypt", file) }
	for _, c := range []struct {
		command *exec.Cmd
		dialog  [][2]string
		code    int
		want    string
	}{
		{backup(), [][2]string{{first, "secret words"}, {again, "secrex words"}}, exitFailed, "the two passphrases differ: run this again"},
		{backup(), [][2]string{{first, ""}}, exitFailed, "stopped: nothing was changed"},
		{backup(), [][2]string{{first, "secret words"}, {again, ""}}, exitFailed, "stopped: nothing was changed"},
		{backup(), [][2]string{{first, "secret words"}, {again, "secret words"}}, 0, "Wrote " + file},
		{s.chatguard("restore", file), [][2]string{{first, "secrex words"}}, exitFailed, "the passphrase doesn't fit"},
		{s.chatguard("restore", file), [][2]string{{first, "secret words"}}, 0, "Restored the database"},
	} {
		shown, code := passphraseTerminal(t, c.command, c.dialog...)
		if code != c.code || !strings.Contains(shown, c.want) || strings.Contains(shown, "secre") {
			t.Errorf("exit code %d, want %d with %q; the terminal shows\n%s", code, c.code, c.want, shown)
		}
	}
}
