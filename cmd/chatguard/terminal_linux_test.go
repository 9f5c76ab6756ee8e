package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/doctor"
)

// openTerminal returns a terminal for a process, and its screen.
func openTerminal(t *testing.T) (terminal, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	var unlock, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(value))); failed != 0 {
			t.Fatal(failed)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
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
		run := s.chatguard(append([]string{"run"}, flags...)...)
		run.Stdout = terminal
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
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
		if err := printFinding(terminal, "clock", doctor.Finding{State: doctor.Problem, Found: "it is late"}); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(screen).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("NO_COLOR=%q: %q, %v, want %q", noColor, line, err, want)
		}
	}
}
