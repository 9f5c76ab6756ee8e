//go:build !race

package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
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
		must(t, os.Chmod(s.database()+".lock", 0))
	}
	me, err := user.Current()
	must(t, err)
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

// TestOwner_Hidden checks that a user who may not look into the database's folder isn't told that
// no chatguard runs.
func TestOwner_Hidden(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.makeReadable()
	folder := filepath.Join(filepath.Dir(s.configuration), "private")
	must(t, os.Mkdir(folder, 0o700))
	database := filepath.Join(folder, "chatguard.db")
	s.env = append(s.env, "CHATGUARD_DATABASE="+database)
	s.start()
	if os.Getuid() != 0 { // without root, make the folder unreadable instead
		must(t, os.Chmod(folder, 0))
	}
	me, err := user.Current()
	must(t, err)
	who := me.Username
	if who != "root" {
		who += " or root"
	}
	dashboard, err := url.Parse(s.bot.address)
	must(t, err)
	other := s.withEnv(asNobody+"=1", "CHATGUARD_WEB_LISTEN="+dashboard.Host)
	hidden := fmt.Sprintf("this user may not see who uses the database %s", database)
	if line, want := other.forTest(t).checkRefused("status"), "chatguard can't be asked: "+hidden+": run this as "+who; line != want {
		t.Errorf("status says %s, want %s", line, want)
	}
	out, _, code := other.runWithInput("", "doctor")
	for _, want := range []string{
		"problem  database       " + hidden + "\n                        run this as " + who + "\n",
		"note     dashboard      " + dashboard.Host + " is in use, perhaps by the chatguard that uses the database: run this as " + who + "\n",
	} {
		if code != exitFailed || !strings.Contains(out, want) {
			t.Errorf("the doctor ends with %d, and says\n%s\nwant %s", code, out, want)
		}
	}
	must(t, os.Chmod(folder, 0o700))
	s.stop()
}

// TestDoctor_SocketUnitHoldsPort checks that the doctor knows the socket unit that has the port.
// The only part of systemd is an imitation of systemctl.
func TestDoctor_SocketUnitHoldsPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	folder, address := t.TempDir(), taken.Addr().String()
	script := fmt.Sprintf("#!/bin/sh\nprintf 'ActiveState=active\\nListen=%s (Stream)\\n'\n", address)
	must(t, os.WriteFile(filepath.Join(folder, "systemctl"), []byte(script), 0o700))
	s := newScene(t, threeMessages).withEnv("CHATGUARD_WEB_LISTEN="+address, "PATH="+folder+":"+os.Getenv("PATH"))
	out, _, _ := s.runWithInput("", "doctor")
	if want := "ok       dashboard      systemd listens at " + address + ", by chatguard.socket, and passes that to chatguard's service\n"; !strings.Contains(out, want) {
		t.Errorf("the doctor doesn't write\n%sbut\n%s", want, out)
	}
}
