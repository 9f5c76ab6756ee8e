//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/waittest"
)

// The log messages with which a reload ends.
const (
	tookUp    = "loaded the configuration"
	notTaken  = "the configuration was not loaded, and nothing has changed"
	toRestart = "changed in the configuration, and needs a restart"
)

// awaitLog calls something and waits until the bot has logged the text words once more. It returns
// the new line, from that text on.
func (s *scene) awaitLog(words string, something func()) (line string) {
	s.Helper()
	before := strings.Count(s.bot.log(), words)
	something()
	waittest.Until(s.T, func() bool { return strings.Count(s.bot.log(), words) > before })
	log := s.bot.log()
	start := strings.LastIndex(log, words)
	line, _, _ = strings.Cut(log[start:], "\n")
	return line
}

// reload makes the bot load the configuration, as a person does.
func (s *scene) reload() {
	s.Helper()
	s.awaitLog(tookUp, func() {
		begin := fmt.Sprintf("chatguard (process %d) loaded %s: ", s.bot.Process.Pid, s.configuration)
		if out := s.run("reload"); !strings.HasPrefix(out, begin) {
			s.Errorf("reload prints %q, want it to begin with %q", out, begin)
		}
	})
}

// signal sends a signal to the bot.
func (s *scene) signal(sig syscall.Signal) {
	s.Helper()
	must(s, s.bot.Process.Signal(sig))
}

// sayIn sends a message from a user to a channel.
func (s *scene) sayIn(channel, login string) (messageID string) {
	s.Helper()
	id, err := s.twitch.Say(faketwitch.Line{Channel: channel, Login: login, Text: "hello"})
	must(s, err)
	return id
}

// policy returns the channel's policy as the dashboard shows it.
func (s *scene) policy() chatguard.Policy {
	s.Helper()
	_, text := s.ask("GET", s.channel()+"/policy", "")
	return decode[chatguard.Policy](s, text)
}

// TestReload_ChannelsJoinAndLeave checks that the bot joins and leaves channels on the existing
// connection, without losing a message of the other channels.
func TestReload_ChannelsJoinAndLeave(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.twitch.AddChannel("teatime")
	s.start()
	const guests = 500
	said := make(chan error, 1)
	talk := func(part string) {
		for i := range guests {
			if _, err := s.twitch.Say(faketwitch.Line{Channel: "gardenhour", Login: fmt.Sprint(part, i), Text: "hello"}); err != nil {
				said <- err
				return
			}
		}
		said <- nil
	}

	go talk("early")
	s.configure(`channels = ["gardenhour"]`, `channels = ["gardenhour", "teatime"]`)
	s.reload()
	awaitJoined(t, s.twitch, 2)
	s.sayIn("teatime", "anna")
	must(t, <-said)

	go talk("late")
	s.configure(`channels = ["gardenhour", "teatime"]`, `channels = ["gardenhour"]`)
	s.reload()
	waittest.Until(t, func() bool { return strings.Contains(s.chatLines(), "PART #teatime\n") })
	must(t, <-said)
	read := fmt.Sprintf("\nchatguard_messages_total{channel=\"gardenhour\",channel_id=%q} %d\n", s.twitch.UserID("gardenhour"), 2*guests)
	waittest.Until(t, func() bool { // what follows is soon read, and so isn't too late for a penalty
		_, metrics := s.ask("GET", "metrics", "")
		return strings.Contains(metrics, read)
	})
	s.sayIn("teatime", "anna") // the bot has left and does not read it
	s.exhaustLimit("anna")
	s.stop()

	r := s.export()
	spoken := r.messageCounts()
	if len(spoken) != 2*guests+1 || spoken["anna"] != 5 || len(r.timeline) != 2*guests+5 {
		t.Errorf("%d messages of %d users were read, %d of them anna's", len(r.timeline), len(spoken), spoken["anna"])
	}
	if n := s.twitch.Connections(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

// TestReload_BadFileChangesNothing checks that the command prints why it can't load a file. After a
// signal, the log contains the reason. The next valid file is loaded.
func TestReload_BadFileChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, why string }{
		"wrong spelling": {"burst = 3", "brust = 3", `brust`},
		"no file at all": {"[policy]", "[policy", "expected"},
		"wrong value":    {"burst = 3", "burst = 0", `limit "few"`},
		"nobody to read": {`channels = ["gardenhour"]`, "channels = []", "twitch.channels: is empty: name the channel to moderate"},
		"for a server":   {`ladder = ["delete"]`, `ladder = ["drop"]`, `has "drop", which only a chat server can`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, threeMessages)
			s.start()
			s.sayAllowed("anna")
			s.configure(c.from, c.to)
			out, complaint := s.checkExit(exitUsage, "reload")
			if line, rest, _ := strings.Cut(complaint, "\n"); out != "" || rest != "" || !strings.HasPrefix(line, "chatguard: "+s.configuration) || !strings.Contains(line, c.why) {
				t.Errorf("reload prints %q and complains %q", out, complaint)
			}
			line := s.awaitLog(notTaken, func() { s.signal(syscall.SIGHUP) })
			if !strings.Contains(strings.ReplaceAll(line, `\"`, `"`), c.why) || strings.Count(s.bot.log(), notTaken) != 1 || strings.Contains(s.bot.log(), tookUp) {
				t.Errorf("the log says\n%s", s.bot.log())
			}
			s.sayAllowed("anna")
			s.sayAllowed("anna")
			s.sayExcess("anna")
			s.configure(c.to, c.from)
			s.configure("burst = 3", "burst = 4")
			s.reload()
			s.sayAllowed("anna")
			s.sayExcess("anna")
			s.stop()
		})
	}
}

// TestReload_SaysWhatCameOfIt checks that output and log say what changed, and exactly what needs a
// restart, or why nothing changed. After a restart, nothing needs one.
func TestReload_SaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	says := func(want string) {
		t.Helper()
		begin := fmt.Sprintf("chatguard (process %d) loaded %s: ", s.bot.Process.Pid, s.configuration)
		if out := s.run("reload"); out != begin+want+"\n" {
			t.Errorf("it says %q, want %q", out, begin+want)
		}
	}
	says("nothing has changed")
	s.configure("burst = 3", "burst = 4")
	s.configure(`ladder = ["delete"]`, `ladder = ["delete", "warn"]`)
	says("changed limit, penalties.ladder")
	s.configure("[twitch]", "retention = \"7d\"\n\n[twitch]\ncommands = false")
	if strings.Contains(s.bot.log(), toRestart) {
		t.Errorf("nothing needs a restart, but the log says\n%s", s.bot.log())
	}
	line := s.awaitLog(toRestart, func() { says("no change applies without a restart\nNeeds a restart: retention, twitch.commands") })
	if want := `keys="retention, twitch.commands"`; !strings.HasSuffix(line, want) {
		t.Errorf("the log says %s, want %s", line, want)
	}
	s.stop()
	s.start()
	says("nothing has changed")

	s.configure(`channels = ["gardenhour"]`, "channels = []")
	// only the client has this variable, not the running bot
	s.env = append(s.env, "CHATGUARD_TWITCH_CHANNELS=gardenhour")
	want := "the configuration was not loaded, and nothing has changed: " + s.configuration + ": twitch.channels: is empty: name the channel to moderate, or in check.channels the chats of a server of your own"
	if line := s.checkRefused("reload"); line != want {
		t.Errorf("it says %s, want %s", line, want)
	}
	if left, err := filepath.Glob(s.database() + ".[ro]*"); len(left) != 0 || err != nil {
		t.Errorf("left are %q, %v", left, err)
	}
	s.stop()
}

// TestReload_WhileStarting asks a chatguard that has its database and still waits for Twitch's
// answer, which comes once the reload has been requested. It answers once it has started. An
// unhandled signal would end it.
func TestReload_WhileStarting(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages+"[channel.gardenhour.policy]\nmode = \"observe\"\n")
	asked, answer := make(chan bool, 100), make(chan bool)
	s.twitch.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
		asked <- true
		<-answer
		return faketwitch.Fault{Status: faketwitch.AsAsked}, true
	})
	reloaded := make(chan string, 1)
	var others sync.WaitGroup
	t.Cleanup(others.Wait) // if the test fails early, its context has ended by then
	others.Go(func() {
		defer close(reloaded)
		waittest.Until(t, func() bool { return len(asked) > 0 })
		out, err := s.chatguard("reload").CombinedOutput()
		reloaded <- fmt.Sprint(string(out), err)
	})
	others.Go(func() {
		defer close(answer)
		waittest.Until(t, func() bool {
			requests, err := filepath.Glob(s.database() + ".request-*")
			return len(requests) > 0 || err != nil
		})
	})
	s.start()
	if out := <-reloaded; !strings.HasSuffix(out, ": nothing has changed\n<nil>") {
		t.Errorf("reload prints %s", out)
	}
	s.stop()
}

// TestReload_KeepsLiveChanges checks that live changes apply on top of the file and are logged,
// and that the file's other changes apply.
func TestReload_KeepsLiveChanges(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	waittest.Until(t, func() bool {
		_, text := s.ask("GET", "api/v1/channels", "")
		return strings.Contains(text, "gardenhour")
	})
	if !s.change(func(p *chatguard.Policy) { p.Limits[0].Burst = 1 }) {
		t.Error("the change isn't saved")
	}
	s.configure("burst = 3", "burst = 4")
	s.configure(`ladder = ["delete"]`, `ladder = ["delete", "warn"]`)
	reloaded := ""
	line := s.awaitLog("changed live, differs from the configuration", func() { reloaded = s.run("reload") })
	if want := "\n#gardenhour: limit.few.burst stays 1, changed live by owner (revision 1); the configuration has 4\n"; !strings.HasSuffix(reloaded, want) {
		t.Errorf("reload says %q, want %q at its end", reloaded, want)
	}
	if !strings.Contains(line, "author=owner key=limit.few.burst value=1 configured=4") {
		t.Errorf("the log says %s", line)
	}
	if p := s.policy(); p.Limits[0].Burst != 1 || len(p.Penalties.Ladder) != 2 {
		t.Errorf("in force is %+v", p)
	}
	s.sayAllowed("anna")
	s.sayExcess("anna")
	s.stop()
}

// TestReload_WithoutBot checks that the command says that no bot is running, both before the first
// start and after a stop.
func TestReload_WithoutBot(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	want := "no chatguard uses the database " + s.database() + ": start it with `chatguard run`; or send SIGHUP yourself to one that runs with --no-database"
	if got := s.checkRefused("reload"); got != want {
		t.Errorf("before: %s", got)
	}
	if _, err := os.Stat(s.database()); err == nil {
		t.Error("a database was made for nothing")
	}
	s.start()
	s.stop()
	if got := s.checkRefused("reload"); got != want {
		t.Errorf("after: %s", got)
	}
}
