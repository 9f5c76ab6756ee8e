//go:build !race

package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/waittest"
)

// withEnv returns the same scene with additional environment variables.
func (s *scene) withEnv(variables ...string) *scene {
	more := *s
	more.env = slices.Concat(s.env, variables)
	return &more
}

// TestDoctor_WhileChatguardRuns checks that the doctor recognizes its database and dashboard,
// checks its token whatever the environment contains, and disturbs nothing.
func TestDoctor_WhileChatguardRuns(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.env = append(s.env, "CHATGUARD_TWITCH_REFRESH_TOKEN="+s.twitch.RefreshToken(), "CHATGUARD_TWITCH_CLIENT_ID="+s.twitch.ClientID())
	s.start()
	s.exhaustLimit("anna")
	dashboard, err := url.Parse(s.bot.address)
	must(t, err)
	other := s.withEnv("CHATGUARD_WEB_LISTEN="+dashboard.Host, "CHATGUARD_TWITCH_TOKEN=another", "CHATGUARD_TWITCH_TOKN=another")
	out := other.run("doctor")
	for _, want := range []string{
		"note     environment    CHATGUARD_TWITCH_TOKN is set but isn't a known key, so it has no effect: did you mean CHATGUARD_TWITCH_TOKEN?\n",
		"ok       environment    variables that override the file: CHATGUARD_FLUSH_INTERVAL, CHATGUARD_TWITCH_CLIENT_ID, CHATGUARD_TWITCH_REFRESH_TOKEN, CHATGUARD_TWITCH_TOKEN, " +
			"CHATGUARD_WEB_LISTEN, CHATGUARD_WEB_TOKEN\n",
		fmt.Sprintf("ok       database       %s, in use by process %d\n", s.database(), s.bot.Process.Pid),
		"ok       process        the running chatguard says that everything works\n",
		"ok       dashboard      " + dashboard.Host + " is the dashboard of the running chatguard\n",
		"ok       token          that of chatguard_bot, good until ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the doctor doesn't write\n%sbut\n%s", want, out)
		}
	}
	s.exhaustLimit("berta")
	s.stop()
	if n := s.twitch.Refreshes(); n != 0 || strings.Contains(s.bot.log(), "loaded the token") {
		t.Errorf("%d renewals; the log says\n%s", n, s.bot.log())
	}
}

// TestDoctor_AnotherProgramAtAddress checks that the doctor distinguishes another
// program from the dashboard, even while a chatguard is running.
func TestDoctor_AnotherProgramAtAddress(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	taken, err := url.Parse(s.twitch.HelixURL())
	must(t, err)
	out, complaint := s.withEnv("CHATGUARD_WEB_LISTEN="+taken.Host).checkExit(exitFailed, "doctor")
	if want := "problem  dashboard      " + taken.Host + " is in use by another program\n"; !strings.Contains(out, want) {
		t.Errorf("the doctor doesn't write\n%sbut\n%s", want, out)
	}
	if complaint != "chatguard: 1 problem found; the fix is under it\n" {
		t.Errorf("it complains %q", complaint)
	}
	s.stop()
}

// TestDoctor_Stopped checks that the doctor can be stopped while it waits for Twitch.
func TestDoctor_Stopped(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.twitch.FailAuth(&faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Hour})
	c := s.chatguard("doctor")
	var complaint bytes.Buffer
	c.Stderr = &complaint
	must(t, c.Start())
	waittest.Until(t, func() bool {
		return slices.ContainsFunc(s.twitch.Requests(), func(r faketwitch.Request) bool { return r.Path == "/oauth2/validate" })
	})
	must(t, c.Process.Signal(os.Interrupt))
	if err := c.Wait(); c.ProcessState.ExitCode() != exitFailed || complaint.String() != "chatguard: stopped: not everything was checked\n" {
		t.Errorf("%v: %s", err, &complaint)
	}
}

func TestDoctor_WrapsLongFindings(t *testing.T) {
	t.Parallel()
	if got := wrapIndented("a bb ccc dddd", 0); got != "a bb ccc dddd" {
		t.Errorf("unbroken: %q", got)
	}
	margin := strings.Repeat(" ", findingsIndent)
	for width, want := range map[int]string{
		13: "a bb ccc dddd",
		12: "a bb ccc\n" + margin + "dddd",
		4:  "a bb\n" + margin + "ccc\n" + margin + "dddd",
		1:  "a\n" + margin + "bb\n" + margin + "ccc\n" + margin + "dddd",
	} {
		if got := wrapIndented("a bb ccc dddd", width); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}
