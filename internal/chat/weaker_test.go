package chat

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// TestWeaker checks that a message is deleted if its penalty fails, unless deleting it would fail,
// too. The journal says why, and whether the penalty may have been carried out.
func TestWeaker(t *testing.T) {
	refused, futile, unknown := errors.New("invalid user"), NewError(ErrFutile, "not a moderator"), NewError(ErrUnanswered, "status 500")
	held := fmt.Errorf("time out user: %w", &HeldError{Why: "no more timeouts for 9 s", Wait: 9 * time.Second})
	for name, test := range map[string]struct {
		ladder  string
		fails   map[string]error
		did     string
		outcome string
	}{
		"refused":            {"timeout 30s", map[string]error{"timeout": refused}, "timeout a 30s, delete a2", "delete done: invalid user; the message was only deleted"},
		"ban":                {"ban", map[string]error{"ban": refused}, "ban a, delete a2", "delete done: invalid user; the message was only deleted"},
		"held":               {"timeout 30s", map[string]error{"timeout": held}, "timeout a 30s, delete a2", "delete done: no more timeouts for 9 s; the message was only deleted"},
		"unknown":            {"timeout 30s", map[string]error{"timeout": unknown}, "timeout a 30s, delete a2", "timeout unknown: status 500; the message was deleted"},
		"held, unknown":      {"timeout 30s", map[string]error{"timeout": fmt.Errorf("%w; %w", held, unknown)}, "timeout a 30s, delete a2", "timeout unknown: time out user: no more timeouts for 9 s; status 500; the message was deleted"},
		"delete fails, too":  {"timeout 30s", map[string]error{"timeout": refused, "delete": unknown}, "timeout a 30s, delete a2", "timeout failed: invalid user; deleting the message failed, too: status 500"},
		"futile":             {"timeout 30s", map[string]error{"timeout": futile}, "timeout a 30s", "timeout failed: not a moderator"},
		"warning":            {"warn", map[string]error{"warn": refused}, "delete a2, warn a for a2", "delete done: invalid user; the message was only deleted"},
		"warning, held":      {"warn", map[string]error{"warn": held}, "delete a2, warn a for a2", "delete done: no more timeouts for 9 s; the message was only deleted"},
		"warning, futile":    {"warn", map[string]error{"warn": futile}, "delete a2, warn a for a2", "delete done: not a moderator; the message was only deleted"},
		"warning, unknown":   {"warn", map[string]error{"warn": unknown}, "delete a2, warn a for a2", "warn unknown: status 500; the message was deleted"},
		"warning, no delete": {"warn", map[string]error{"delete": unknown}, "delete a2", "warn unknown: status 500"},
		"delete":             {"delete", map[string]error{"delete": unknown}, "delete a2", "delete unknown: status 500"},
	} {
		testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
			s.Log(name)
			s.platform.fails = test.fails
			s.say("a1", "a2")
			s.checkRequests(strings.Split(test.did, ", ")...)
			s.checkOutcomes(test.outcome)
			if c := s.bot.Counts(); c.Deleted+c.Failed != 1 {
				s.Errorf("%+v", c)
			}
			isHeld := errors.As(test.fails["timeout"], new(*HeldError))
			if until := s.bot.backlog.channels["1"].heldUntil; isHeld == until.IsZero() {
				s.Errorf("timeouts are held until %s", until)
			}
			if slow := s.bot.Slowed(); len(slow) > 0 {
				s.Errorf("slow mode is on: %v", slow)
			}
		}, test.ladder)
	}
}

// TestWeaker_Late checks that a message isn't deleted if the penalty failed because its time is
// over.
func TestWeaker_Late(t *testing.T) {
	testWithBot(t, Options{Patience: time.Second}, func(s *stage) {
		s.hold()
		s.say("a1", "a2")
		s.wait(time.Second)
		s.checkOutcomes("timeout failed: too late: context deadline exceeded")
	}, "timeout 30s")
}

// TestWeaker_Notice checks that a user is told when to write again if the message was only deleted,
// because the chat itself tells only users who are timed out.
func TestWeaker_Notice(t *testing.T) {
	testWithBot(t, Options{Notices: always(Notices{Text: "wait {wait}"})}, func(s *stage) {
		s.platform.fails = map[string]error{"timeout": errors.New("invalid user")}
		s.say("a1", "a2")
		s.checkRequests("timeout a 30s", "delete a2", `say in 1 to "": wait 60 min`)
	}, "timeout 30s")
}

// TestHeld checks that slow mode is turned on if the platform takes no more timeouts in a channel.
// Until it takes them again, scarce requests aren't merged into timeouts.
func TestHeld(t *testing.T) {
	testWithBot(t, Options{SlowMode: 30 * time.Second}, func(s *stage) {
		s.platform.fails = map[string]error{"timeout": &HeldError{Why: "no more", Wait: 9 * time.Second, Busy: true}}
		s.say("a1", "b1", "c1", "a2")
		s.wait(2 * time.Second)
		if slow := s.bot.Slowed(); slow["1"] != 30*time.Second {
			t.Errorf("slowed %v", slow)
		}
		s.checkOutcomes("delete done: no more; the message was only deleted")
		for _, test := range []struct{ user, want string }{{"b", "delete b2"}, {"c", "timeout c 10m0s"}} {
			p := s.guard.ChannelPolicy("1")
			p.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDelete}, {Action: chatguard.ActionDelete}, {Action: chatguard.ActionDelete}, {Action: chatguard.ActionTimeout, Duration: time.Hour}}
			must(t, inner.At(s.guard, time.Now()).SetChannelPolicy("1", p))
			s.platform.mu.Lock()
			s.platform.most, s.platform.spent, s.platform.done = 1, 1, nil
			s.platform.mu.Unlock()
			s.say(test.user+"2", test.user+"3")
			s.platform.allow(1)
			s.wait(budgetTick)
			s.platform.mu.Lock()
			if did := s.platform.done; len(did) == 0 || !strings.HasPrefix(did[0], test.want) {
				t.Errorf("did %q, want %s", did, test.want)
			}
			s.platform.fails = nil
			s.platform.mu.Unlock()
			s.platform.allow(10)
			s.wait(9 * time.Second)
		}
	}, "timeout 30s")
}

// TestIdle checks that a penalty that waits before another try leaves its place to another one, up
// to twice as many as there are places.
func TestIdle(t *testing.T) {
	testWithBot(t, Options{Workers: 2}, func(s *stage) {
		s.platform.idle = time.Second
		s.say("a1", "b1", "c1", "d1", "e1", "f1", "a2", "b2", "c2", "d2", "e2", "f2")
		s.bot.backlog.mu.Lock()
		l := s.bot.backlog.channels["1"]
		if l.inFlight != 4 || l.idle != 4 || l.waiting != 2 {
			t.Errorf("%d in flight, %d of them idle, %d waiting", l.inFlight, l.idle, l.waiting)
		}
		s.bot.backlog.mu.Unlock()
		s.wait(time.Second)
		s.checkOutcomes("delete done", "delete done", "delete done", "delete done")
		s.wait(time.Second)
		s.checkOutcomes("delete done", "delete done")
	}, "delete")
}

// TestIdle_OtherChannels checks that penalties that wait before another try hold up no other
// channel.
func TestIdle_OtherChannels(t *testing.T) {
	testWithBot(t, Options{Workers: maxInFlight}, func(s *stage) {
		s.platform.idle = time.Minute
		var ids []string
		for n := range maxInFlight {
			user := string(rune('0' + n))
			ids = append(ids, user+"1", user+"2")
		}
		s.say(ids...)
		s.sayIn("2", "z1", "z2")
		if n := s.bot.backlog.len(); n != maxInFlight+1 || s.bot.backlog.waiting != 0 {
			t.Errorf("%d penalties, %d of them wait", n, s.bot.backlog.waiting)
		}
	}, "delete")
}

// TestReasons_Translated checks that the pages know the reasons that they translate.
func TestReasons_Translated(t *testing.T) {
	page, err := os.ReadFile("../../web/static/app/words/reasons.js")
	must(t, err)
	for _, reason := range []string{budgetReason, queueReason, slowReason, fullReason, onlyDeleted, alsoDeleted} {
		if !strings.Contains(string(page), reason) {
			t.Errorf("reasons.js doesn't know %q", reason)
		}
	}
}
