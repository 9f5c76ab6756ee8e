package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
)

// TestAnnouncer_Pace checks the limits: one message per second and channel, and in all channels
// together at most 20 in any 30 s, or 100 where the bot moderates.
func TestAnnouncer_Pace(t *testing.T) {
	for _, test := range []struct {
		moderates bool
		most      int
	}{{false, sayPlain}, {true, sayAsModerator}} {
		testWithBot(t, Options{Moderates: func(string) bool { return test.moderates }}, func(s *stage) {
			var at []time.Time
			last := map[string]time.Time{}
			for n := range 60 * 10 {
				for channel := range 10 {
					s.bot.announcer.say(announcement{channelID: fmt.Sprint(channel), text: fmt.Sprint("text ", n), toModerator: true})
				}
				s.wait(100 * time.Millisecond)
				for _, said := range s.platform.requests()[len(at):] {
					at = append(at, time.Now())
					channel := strings.Fields(said)[2]
					if before, ok := last[channel]; ok && time.Since(before) < sayEvery-100*time.Millisecond {
						t.Errorf("%q came %s after the one before", said, time.Since(before))
					}
					last[channel] = time.Now()
				}
			}
			most := 0
			for i := range at {
				n := 0
				for _, other := range at[i:] {
					if other.Sub(at[i]) < 30*time.Second {
						n++
					}
				}
				most = max(most, n)
			}
			if most > test.most || most < test.most*3/4 {
				t.Errorf("%d messages in 30 s, want about %d", most, test.most)
			}
		}, "delete")
	}
}

func TestAnnouncer_DropsRepeats(t *testing.T) {
	testWithBot(t, Options{}, func(s *stage) {
		say := func(channel string, want bool) {
			t.Helper()
			if got := s.bot.announcer.say(announcement{channelID: channel, text: "hello"}); got != want {
				t.Errorf("in %s: %v", channel, got)
			}
			s.wait(2 * time.Second)
		}
		say("1", true)
		say("1", false)
		say("2", true)
		s.wait(repeatAfter - 4*time.Second)
		say("1", false) // still a repeat, because it may have been sent later than it was queued
		s.wait(10 * time.Second)
		say("1", true)
		s.checkRequests(`say in 1 to "": hello`, `say in 2 to "": hello`, `say in 1 to "": hello`)
		for range 3 { // a moderator gets an answer to each command
			s.bot.announcer.say(announcement{channelID: "1", text: "hello", toModerator: true})
		}
		s.bot.announcer.say(announcement{channelID: "1", text: strings.Repeat("x", maxText), toModerator: true})
		s.bot.announcer.say(announcement{channelID: "1", text: strings.Repeat("x", maxText), toModerator: true})
		s.wait(10 * time.Second)
		s.checkRequests(`say in 1 to "": hello (again)`, `say in 1 to "": hello (again, 2)`, `say in 1 to "": hello (again, 3)`,
			`say in 1 to "": `+strings.Repeat("x", maxText), `say in 1 to "": `+strings.Repeat("x", maxText-8)+" (again)")
	}, "delete")
}

// TestAnnouncer_DropsLate checks that messages are dropped while no request can be sent.
func TestAnnouncer_DropsLate(t *testing.T) {
	testWithBot(t, Options{}, func(s *stage) {
		s.platform.mu.Lock()
		s.platform.most, s.platform.spent = 1, 1
		s.platform.mu.Unlock()
		for n := range 3 {
			s.bot.announcer.say(announcement{channelID: "1", text: fmt.Sprint("text ", n)})
			s.wait(5 * time.Second)
		}
		s.bot.announcer.say(announcement{channelID: "1", text: "an answer", toModerator: true})
		s.wait(time.Second)
		s.checkRequests(`say in 1 to "": an answer`)
		s.platform.allow(100)
		s.wait(10 * time.Second)
		s.checkRequests()
		release := s.hold() // the platform doesn't answer
		s.bot.announcer.say(announcement{channelID: "1", text: "more", toModerator: true})
		s.wait(sayWithin + time.Second)
		release()
		s.checkRequests()
	}, "delete")
}

// TestAnnouncer_SlowChat checks that a second passes between the chat's answer to one message and
// the next message.
func TestAnnouncer_SlowChat(t *testing.T) {
	testWithBot(t, Options{}, func(s *stage) {
		release := s.hold()
		for _, text := range []string{"one", "two"} {
			s.bot.announcer.say(announcement{channelID: "1", text: text, toModerator: true})
		}
		s.wait(3 * time.Second)
		release()
		s.checkRequests(`say in 1 to "": one`)
		s.wait(sayEvery - time.Millisecond)
		s.checkRequests()
		s.wait(time.Millisecond)
		s.checkRequests(`say in 1 to "": two`)
	}, "delete")
}

// TestAnnouncer_ReservesForModerators checks that moderators are answered, however many other
// messages are pending.
func TestAnnouncer_ReservesForModerators(t *testing.T) {
	testWithBot(t, Options{}, func(s *stage) {
		for n := range 30 {
			for k := range 10 {
				s.bot.announcer.say(announcement{channelID: "1", text: fmt.Sprint("notice ", n, " ", k)})
			}
			if n%5 == 0 && !s.bot.announcer.say(announcement{channelID: "1", text: fmt.Sprint("answer ", n), toModerator: true}) {
				t.Errorf("no answer %d", n)
			}
			s.wait(2 * time.Second)
		}
	}, "delete")
}

func TestPlainLine(t *testing.T) {
	for text, want := range map[string]string{
		"hello":                      "hello",
		"two\r\nlines\x00":           "two lines",
		"/ban anna":                  "ban anna",
		"/ /ban x":                   "ban x",
		" ./.timeout":                "timeout",
		"bad \xff bytes":             "bad ? bytes",
		strings.Repeat("ä", 600):     strings.Repeat("ä", 500),
		"\t":                         "",
		"@name, next message in 4 s": "@name, next message in 4 s",
	} {
		if got := plainLine(text); got != want || utf8.RuneCountInString(got) > maxText {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// always returns the same notices for all channels.
func always(n Notices) func(string) Notices { return func(string) Notices { return n } }

// TestNotices_RepeatedText checks that the notice for a repeated text doesn't say that the next
// message has to wait, whatever the template says.
func TestNotices_RepeatedText(t *testing.T) {
	copies := chatguard.SlidingLogLimit("copies", 1, 24*time.Second)
	copies.Per = chatguard.PerUserText
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{copies}}, nil)
	must(t, err)
	b := &Bot{options: Options{Guard: guard, Now: func() time.Time { return monday }}}
	m := chatguard.Message{ChannelID: "1", User: chatguard.User{ID: "7", Login: "anna"}}
	v := chatguard.Verdict{At: monday, Limit: "copies", RetryAfter: 24 * time.Second}
	for tag, want := range map[string]string{
		"en": "@anna, the same message again: wait 24 s.", "de": "@anna, noch einmal dieselbe Nachricht: Warte 24 s.", "es": "@anna, el mismo mensaje otra vez: espera 24 s.",
		"ja": "@anna さん、同じメッセージの繰り返しです。24秒お待ちください。", "pt-BR": "@anna, a mesma mensagem de novo: espere 24 s.",
	} {
		if got := b.fill(Notices{Text: "{name}: next message in {wait}", Language: tag}, &m, &v); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// TestNotices checks that there is one notice per user and cooldown, and only if the chat itself
// does not notify the user.
func TestNotices(t *testing.T) {
	o := Options{Notices: always(Notices{Text: "@{name}, next message in {wait} ({limit})", Cooldown: 10 * time.Second})}
	testWithBot(t, o, func(s *stage) {
		said := func(want int) {
			t.Helper()
			s.wait(5 * time.Second)
			got := 0
			for _, d := range s.platform.requests() {
				if strings.HasPrefix(d, "say ") {
					got++
				}
			}
			if got != want {
				t.Errorf("said %d times, want %d: %q", got, want, s.platform.requests())
			}
		}
		s.say("a1", "a2")
		if all := s.platform.requests(); len(all) != 2 || all[0] != `say in 1 to "": @a, next message in 60 min (burst)` && all[1] != `say in 1 to "": @a, next message in 60 min (burst)` {
			t.Errorf("did %q", all)
		}
		s.say("a3", "b1")
		said(1) // a was notified; b isn't throttled
		s.say("b2")
		said(2)
		s.say("a4")
		said(2) // no notice, because its text would be a repeat within 30 s
		s.platform.mu.Lock()
		s.platform.most, s.platform.spent = 1, 1
		s.platform.mu.Unlock()
		s.say("c1", "c2")
		s.wait(16 * time.Second) // too late to be deleted
		said(2)
		s.platform.allow(1000)
		s.wait(30 * time.Second)
		s.say("a5")
		said(3)
	}, "delete")
	for ladder, want := range map[string]int{"warn": 0, "timeout 5s": 0, "delete": 1} {
		testWithBot(t, o, func(s *stage) {
			s.say("a1", "a2")
			n := 0
			for _, d := range s.platform.requests() {
				if strings.HasPrefix(d, "say ") {
					n++
				}
			}
			if n != want {
				t.Errorf("%s: %d notices", ladder, n)
			}
		}, ladder)
	}
}
