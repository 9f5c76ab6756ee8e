package main

import (
	"fmt"
	"os"
	"os/user"
	"strings"
	"testing"
)

// TestOwner_AnotherUserIsNamed checks a database that another user's chatguard owns. The doctor and
// the commands that need the database report that process and that user.
func TestOwner_AnotherUserIsNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.makeReadable()
	s.start()
	if os.Getuid() != 0 { // without root, make the lock unreadable instead
		if err := os.Chmod(s.database()+".lock", 0); err != nil {
			t.Fatal(err)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	inUse := fmt.Sprintf("database %s is in use by process %d of the user %s", s.database(), s.bot.Process.Pid, me.Username)
	fix := fmt.Sprintf("run this as %s, or set another database", me.Username)
	other := s.withEnv(asNobody + "=1")
	if out, _, code := other.runWithInput("", "doctor"); code != exitFailed || !strings.Contains(out, "problem  database       "+inUse+"\n                        "+fix+"\n") {
		t.Errorf("the doctor ends with %d, and says\n%s\nwant %s", code, out, inUse)
	}
	for _, command := range []string{"run", "reload"} {
		if line := other.forTest(t).checkRefused(command); line != inUse+": "+fix {
			t.Errorf("%s says %s, want %s", command, line, inUse)
		}
	}
	want := fmt.Sprintf("chatguard (process %d) uses the database %s as the user %s: run this as %[3]s", s.bot.Process.Pid, s.database(), me.Username)
	if me.Username != "root" {
		want += " or root"
	}
	if line := other.forTest(t).checkRefused("status"); line != want {
		t.Errorf("status says %s, want %s", line, want)
	}
	s.stop()
}
