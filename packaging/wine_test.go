//go:build deploy

package packaging

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// windows is Wine with chatguard.exe.
type windows struct {
	*testing.T
	folder string // working directory of all commands
	env    []string
}

// startWindows makes a new Windows in a temporary folder. It ends with the test.
func startWindows(t *testing.T) *windows {
	t.Helper()
	home := t.TempDir()
	w := &windows{T: t, folder: filepath.Join(home, "chat guard")}
	must(t, os.Mkdir(w.folder, 0o700))
	prefix := filepath.Join(home, "prefix")
	w.env = append(os.Environ(), "HOME="+home, "WINEPREFIX="+prefix, "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=mscoree=;mshtml=", "DISPLAY=", "WAYLAND_DISPLAY=", "TZ=UTC")
	// This fails if Wine has ended by itself.
	t.Cleanup(func() { w.try(exec.Command("wineserver", "-k")) })
	w.output(exec.Command("wineboot", "--init"))
	library := filepath.Join(prefix, "drive_c/windows/system32/bcryptprimitives.dll")
	w.output(exec.Command("x86_64-w64-mingw32-gcc", "-shared", "-o", library,
		w.source("wine/bcryptprimitives.c"), "-ladvapi32"))
	w.goBuild("windows", "chatguard.exe", "build", "-trimpath", "-ldflags=-s -w", "../cmd/chatguard")
	w.goBuild("linux", "chatguard", "build", "-trimpath", "-ldflags=-s -w", "../cmd/chatguard")
	return w
}

// source returns the absolute path of a file of this folder.
func (w *windows) source(name string) string {
	w.Helper()
	path, err := filepath.Abs(name)
	must(w, err)
	return path
}

// goBuild runs a command of Go that writes a program to w.folder.
func (w *windows) goBuild(system, name, command string, args ...string) {
	w.Helper()
	args = slices.Concat([]string{command, "-o", filepath.Join(w.folder, name)}, args)
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		w.Fatalf("%v: %v\n%s", build, err, out)
	}
}

// command returns a command that runs a Windows program of w.folder. Its files are private, as
// those in the profile of a user of Windows.
func (w *windows) command(program string, args ...string) *exec.Cmd {
	args = slices.Concat([]string{"-c", `umask 077 && exec wine "$@"`, "sh", program}, args)
	c := exec.Command("sh", args...)
	c.Dir, c.Env = w.folder, w.env
	return c
}

// output runs a command that must succeed, and returns its standard output with the line breaks of
// Unix.
func (w *windows) output(c *exec.Cmd) string {
	w.Helper()
	text, err := w.try(c)
	if err != nil {
		w.Fatalf("%v: %v\n%s", c, err, text)
	}
	return text
}

// try runs a command and returns what it prints, with its errors if it fails.
func (w *windows) try(c *exec.Cmd) (string, error) {
	var out, failed strings.Builder
	c.Env, c.Stdout, c.Stderr = w.env, &out, &failed
	err := c.Run()
	text := out.String()
	if err != nil {
		text += failed.String()
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), err
}

// chatguard runs chatguard.exe, which must succeed.
func (w *windows) chatguard(args ...string) string {
	w.Helper()
	return w.output(w.command("chatguard.exe", args...))
}

// linux runs the Linux binary in the same folder, which must succeed.
func (w *windows) linux(args ...string) string {
	w.Helper()
	c := exec.Command(filepath.Join(w.folder, "chatguard"), args...)
	c.Dir = w.folder
	return w.output(c)
}

// started is a running program.
type started struct {
	*exec.Cmd
	lines *bufio.Scanner // of its standard output
	log   *strings.Builder
}

// start starts chatguard.exe, and reads until a line that begins with a text. It returns the rest
// of that line.
func (w *windows) start(line string, args ...string) (p *started, rest string) {
	w.Helper()
	p = &started{Cmd: w.command("chatguard.exe", args...), log: &strings.Builder{}}
	out, err := p.StdoutPipe()
	must(w, err)
	p.Stderr = p.log
	must(w, p.Start())
	w.Cleanup(func() { p.Process.Kill() })
	for p.lines = bufio.NewScanner(out); p.lines.Scan(); {
		if rest, ok := strings.CutPrefix(p.lines.Text(), line); ok {
			return p, strings.TrimSpace(rest)
		}
	}
	w.Fatalf("%v ended without %q: %v\n%s", p, line, p.Wait(), p.log)
	return nil, ""
}

// interrupt presses Ctrl-C, which Wine makes of the signal. It returns the rest of the output.
func (w *windows) interrupt(p *started) (rest string, err error) {
	w.Helper()
	must(w, p.Process.Signal(os.Interrupt))
	for p.lines.Scan() {
		rest += p.lines.Text() + "\n"
	}
	return rest, p.Wait()
}

// expect runs chatguard.exe, and checks the exit code and that the output contains a text.
func (w *windows) expect(code int, want string, args ...string) {
	w.Helper()
	c := w.command("chatguard.exe", args...)
	if text, _ := w.try(c); c.ProcessState.ExitCode() != code || !strings.Contains(text, want) {
		w.Errorf("%q ends with %d, want %d with %q:\n%s",
			args, c.ProcessState.ExitCode(), code, want, text)
	}
}

// ask sends a request as a program of this machine outside Wine, and returns the answer and its
// cookie.
func (w *windows) ask(method, url, body string, headers ...string) (answer, cookie string) {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), method, url, strings.NewReader(body))
	must(w, err)
	request.Header.Set("Content-Type", "application/json")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	must(w, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(w, err)
	for _, c := range response.Cookies() {
		cookie = c.Name + "=" + c.Value
	}
	return string(text), cookie
}

// write writes a file in w.folder.
func (w *windows) write(name, contents string) {
	w.Helper()
	must(w, os.WriteFile(filepath.Join(w.folder, name), []byte(contents), 0o600))
}

func (w *windows) read(name string) string {
	w.Helper()
	contents, err := os.ReadFile(filepath.Join(w.folder, name))
	must(w, err)
	return string(contents)
}
