//go:build !race

package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/persist"
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
	if text := s.bot.log(); !strings.Contains(text, "the database's log was deleted") {
		t.Errorf("the log says\n%s", text)
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
		held, err := persist.Hold(s.database())
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
