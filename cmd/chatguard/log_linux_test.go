//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/waittest"
)

// runLogged runs `chatguard run` with a log file and the value of JOURNAL_STREAM that it makes of
// the file's device and inode, until its end is logged. It returns the log.
func (s *scene) runLogged(stream func(device, inode uint64) string) string {
	s.Helper()
	file, err := os.Create(filepath.Join(s.TempDir(), "log"))
	must(s, err)
	defer file.Close()
	info, err := file.Stat()
	must(s, err)
	stat := info.Sys().(*syscall.Stat_t)
	c := s.withEnv("JOURNAL_STREAM=" + stream(stat.Dev, stat.Ino)).runCommand()
	c.Stderr = file
	must(s, c.Start())
	defer c.Process.Kill()
	bot := &process{Cmd: c, logs: file.Name()}
	waittest.Until(s, func() bool { return strings.Contains(bot.log(), "twitch chat connected") })
	bot.stop(s)
	return bot.log()
}

// TestRun_LogToJournal checks that lines have severities and no time only if standard error is the
// journal's stream.
func TestRun_LogToJournal(t *testing.T) {
	t.Parallel()
	s := newScene(t, "")
	text := s.runLogged(func(device, inode uint64) string { return fmt.Sprintf("%d:%d", device, inode) })
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "<6>level=INFO msg=") && !strings.HasPrefix(line, "<4>level=WARN msg=") {
			t.Errorf("to the journal goes %s", line)
		}
	}
	if !strings.Contains(text, "<6>level=INFO msg=\"stopping: ") {
		t.Errorf("the journal gets\n%s", text)
	}
	text = s.runLogged(func(device, inode uint64) string { return fmt.Sprintf("%d:%d", device, inode+1) })
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("to a file goes %s", line)
		}
	}
}

// TestReload_LogLevel checks that a reload applies the level, and that the format needs a restart.
func TestReload_LogLevel(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages+"\n[log]\nformat = \"json\"\nlevel = \"error\"\n")
	s.start()
	s.configure(`level = "error"`, `level = "debug"`)
	if out := s.run("reload"); !strings.HasSuffix(out, ": changed log.level\n") {
		t.Errorf("reload prints %s", out)
	}
	s.configure(`format = "json"`, `format = "text"`)
	if out := s.run("reload"); !strings.HasSuffix(out, "\nNeeds a restart: log.format\n") {
		t.Errorf("reload prints %s", out)
	}
	s.stop()
	if log := s.bot.log(); !strings.Contains(log, `"level":"INFO","msg":"`+tookUp) || strings.Contains(log, "twitch chat connected") {
		t.Errorf("the log is\n%s", log)
	}
	for line := range strings.Lines(s.bot.log()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}
