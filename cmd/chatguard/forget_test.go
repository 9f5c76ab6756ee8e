//go:build !race

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/waittest"
)

// TestForget checks that a user is deleted while chatguard runs and while it doesn't: that nothing
// is found after that, and that the user's allowance is a new one. Others keep theirs.
func TestForget(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	s.exhaustLimit("berta")
	waittest.Until(t, func() bool { // they are written after a moment
		found, err := persist.FindTraces(t.Context(), s.database(), "anna")
		return err == nil && len(found) == 1 && found[0].Rows["journal"] > 0
	})
	if out, complaint, code := s.runWithInput("n\n", "forget", "@Anna"); code != exitFailed || !strings.Contains(out, "  throttled messages\n") || !strings.Contains(complaint, "nothing was deleted") {
		t.Errorf("ended with %d: %s%s", code, out, complaint)
	}
	id := s.twitch.UserID("anna")
	out, complaint, code := s.runWithInput("y\n", "forget", "@Anna")
	if code != 0 || !strings.Contains(out, id+" (anna), last seen ") || !strings.Contains(out, "Deleted all of it, including anything newer than this list.\nNot deleted: ") {
		t.Errorf("ended with %d: %s%s", code, out, complaint)
	}
	const unknown = `the database has nothing about "anna": give the login`
	if line := s.checkRefused("forget", "anna"); !strings.HasPrefix(line, unknown) {
		t.Error(line)
	}
	s.exhaustLimit("anna") // three messages are allowed again
	s.sayExcess("berta")
	s.stop()

	for _, suffix := range []string{".v10", ".before-restore.2", ".before-import", ".rescued"} {
		must(t, os.WriteFile(s.database()+suffix, nil, 0o600))
	}
	if out := s.run("forget", id, "--yes"); strings.Count(out, "Not deleted: "+s.database()+".") != 4 {
		t.Errorf("of the copies, it says %s", out)
	}
	if line := s.checkRefused("forget", "anna"); !strings.HasPrefix(line, unknown) {
		t.Error(line)
	}
	s.start()
	s.exhaustLimit("anna")
	s.sayExcess("berta")
	s.stop()
}

// TestForget_RoomUser checks that the user of a room, who may have no login, is found by the ID
// that pages show.
func TestForget_RoomUser(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	s := &roomServer{T: t, configuration: filepath.Join(t.TempDir(), "chatguard.toml"), owner: "a-long-token-of-the-owner"}
	must(t, os.WriteFile(s.configuration, []byte(roomsConfig), 0o600))
	s.start()
	s.check("Lobby", "41", http.StatusOK)
	s.stop(t)
	if out := runBeside(t, s.configuration, "forget", "41", "--yes"); !strings.HasPrefix(out, "check:41, last seen ") || !strings.Contains(out, "\nDeleted all of it") {
		t.Errorf("it says %s", out)
	}
}
