//go:build !race

package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// TestRun_LogDeleted deletes the database's log while chatguard runs. What is called saved from
// then on survives a kill, and so does everything from before.
func TestRun_LogDeleted(t *testing.T) {
	turntest.Expensive(t)
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	waittest.Until(t, func() bool { return s.databaseStatus().Queued == 0 })
	must(t, errors.Join(os.Remove(s.database()+"-wal"), os.Remove(s.database()+"-shm")))
	saved := s.change(setTwoMessages) // if not, it is saved with the next one
	waittest.Until(t, func() bool { return saved || s.databaseStatus().State == "ok" && s.databaseStatus().Queued == 0 })
	s.waitForReadyz(200)
	s.kill()
	if r := s.export(); len(r.revisions) != 1 || len(r.timeline) != 4 || len(r.journal) != 1 {
		t.Errorf("left are %+v", r)
	}
	if text := s.bot.log(); !strings.Contains(text, "the database's log or its index was deleted") {
		t.Errorf("the log says\n%s", text)
	}
}

// TestRun_DatabaseMoved moves the database away while chatguard runs. All commands that need it say
// so, and how to fix it.
func TestRun_DatabaseMoved(t *testing.T) {
	turntest.Expensive(t)
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	must(t, os.Rename(s.database(), s.database()+".away"))
	const gone = ": the file was moved away or deleted"
	const fix = "put it back, or stop chatguard, which then saves all of it beside it, in a file that ends in .rescued\n"
	for _, command := range []string{"status", "reload", "signin", "backup copy.db", "forget anna"} {
		if _, text := s.checkExit(exitFailed, strings.Fields(command)...); !strings.HasSuffix(text, s.database()+gone+": "+fix) {
			t.Errorf("%s: %s", command, text)
		}
	}
	out, _ := s.checkExit(exitFailed, "doctor")
	if want := "problem  database       database " + s.database() + gone + "\n                        " + fix; !strings.Contains(out, want) {
		t.Errorf("the doctor doesn't write\n%sbut\n%s", want, out)
	}
}

// TestRun_OtherOwner deletes the lock file of a running chatguard, and takes the lock before it
// notices. It then ends.
func TestRun_OtherOwner(t *testing.T) {
	turntest.Expensive(t)
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	waittest.Until(t, func() bool { // chatguard may be first
		must(t, os.Remove(s.database()+".lock"))
		held, err := sqlite.Hold(s.database())
		if err == nil {
			t.Cleanup(func() { held.Release() })
		}
		return err == nil
	})
	if err := s.bot.Wait(); err == nil || s.bot.ProcessState.ExitCode() != 1 {
		t.Errorf("it ends with %v", err)
	}
	if text := s.bot.log(); !strings.Contains(text, "another process took the database") {
		t.Errorf("the log says\n%s", text)
	}
}
