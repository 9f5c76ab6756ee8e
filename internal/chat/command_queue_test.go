package chat

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/roles"
)

// TestCommands checks that !quota is for everyone, and !chatguard for moderators and the
// broadcaster. A throttled or mirrored command is ignored.
func TestCommands(t *testing.T) {
	answer := func(_ context.Context, m chatguard.Message) string { return "answer to " + m.Text }
	testWithBot(t, Options{Answer: answer}, func(s *stage) {
		for _, test := range []struct {
			text, source string
			role         chatguard.Role
			answered     bool
		}{
			{"!quota", "", chatguard.RoleEveryone, true},
			{"!Quota please", "", roles.Subscriber, true},
			{"!quotas", "", chatguard.RoleEveryone, false},
			{"say !quota", "", chatguard.RoleEveryone, false},
			{"!quota\u034f", "", chatguard.RoleEveryone, true},
			{" \u2060!CHATGUARD\ufe0f\u3000status \u2800", "", chatguard.RoleModerator, true},
			{"\u2060 !", "", chatguard.RoleEveryone, false},
			{"!chatguard status", "", chatguard.RoleEveryone, false},
			{"!chatguard status", "", roles.VIP, false},
			{"!chatguard status", "", chatguard.RoleModerator, true},
			{"!chatguard pause", "", roles.LeadModerator, true},
			{"!chatguard resume", "", roles.Broadcaster, true},
			{"!chatguard reset", "2", roles.Broadcaster, false},
			{"!quota here", "1", chatguard.RoleEveryone, true},
		} {
			m := message(test.text+test.source+string(test.role), test.text+string(test.role), test.role)
			m.Text, m.SourceChannelID = test.text, test.source
			s.sink.Messages(time.Time{}, []Message{m})
			s.wait(40 * time.Second)
			want := []string{}
			if test.answered {
				want = append(want, fmt.Sprintf("say in 1 to %q: answer to %s", m.ID, hostile.OneLine(test.text, maxText)))
			}
			s.checkRequests(want...)
		}
	}, "delete")
}

// TestCommands_ModeratorsFirst checks that moderators' commands are answered despite a crowd of
// other commands, a slow command elsewhere, or a limit.
func TestCommands_ModeratorsFirst(t *testing.T) {
	var mu sync.Mutex
	var answered []string
	answer := func(ctx context.Context, m chatguard.Message) string {
		if m.ChannelID == "2" {
			<-ctx.Done()
		}
		mu.Lock()
		defer mu.Unlock()
		answered = append(answered, m.ID)
		return ""
	}
	testWithBot(t, Options{Answer: answer}, func(s *stage) {
		p := s.guard.ChannelPolicy("1")
		p.Exempt = nil
		must(t, inner.At(s.guard, time.Now()).SetChannelPolicy("1", p))
		elsewhere := message("elsewhere", "9", chatguard.RoleModerator)
		elsewhere.ChannelID, elsewhere.Text = "2", "!chatguard exempt @x 5m"
		batch := []Message{elsewhere}
		for n := range 60 {
			m := message(fmt.Sprint("quota", n), fmt.Sprint("user", n))
			m.Text = "!quota"
			batch = append(batch, m)
		}
		for n := range 2 { // the second is throttled
			m := message(fmt.Sprint("pause", n), "9", chatguard.RoleModerator)
			m.Text = "!chatguard pause"
			batch = append(batch, m)
		}
		s.sink.Messages(time.Time{}, batch)
		synctest.Wait()
		mu.Lock()
		if !slices.Contains(answered, "pause0") || !slices.Contains(answered, "pause1") || slices.Contains(answered, "elsewhere") {
			t.Errorf("answered %q", answered)
		}
		answered = nil
		mu.Unlock()
		s.wait(answerTimeout)
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(answered, []string{"elsewhere"}) {
			t.Errorf("answered %q", answered)
		}
	}, "delete")
}

// ask sends "!quota" in a channel from n users at once.
func (s *stage) ask(channelID string, n int) {
	var batch []Message
	for range n {
		s.asked++
		m := message(fmt.Sprint("quota", s.asked), fmt.Sprint("user", s.asked))
		m.ChannelID, m.Text, m.User.DisplayName = channelID, "!quota", fmt.Sprint("User", s.asked)
		batch = append(batch, m)
	}
	s.sink.Messages(time.Time{}, batch)
}

func answerName(_ context.Context, m chatguard.Message) string { return "answer to " + m.User.ID }

// TestCommands_Crowd checks that users who ask at once are answered one by one, without a delay for
// moderators. If too many ask, those who have waited longest get no answer.
func TestCommands_Crowd(t *testing.T) {
	var log strings.Builder
	o := Options{Answer: answerName, Moderates: func(string) bool { return true }, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	testWithBot(t, o, func(s *stage) {
		s.ask("1", 12)
		s.wait(3*time.Second + 500*time.Millisecond)
		m := message("status", "9", chatguard.RoleModerator)
		m.Text = "!chatguard status"
		s.sink.Messages(time.Time{}, []Message{m})
		s.wait(10 * time.Second)
		var want []string
		for n := range 13 {
			switch {
			case n < 4:
				want = append(want, fmt.Sprintf(`say in 1 to "quota%d": answer to user%[1]d`, n+1))
			case n == 4:
				want = append(want, `say in 1 to "status": answer to 9`)
			default:
				want = append(want, fmt.Sprintf(`say in 1 to "quota%d": answer to user%[1]d`, n))
			}
		}
		s.checkRequests(want...)
		if log.Len() > 0 {
			t.Error(log.String())
		}
		p := s.guard.ChannelPolicy("1")
		p.Mode = chatguard.ModeObserve
		must(t, inner.At(s.guard, time.Now()).SetChannelPolicy("1", p))
		for n := range 50 { // one user can't take the others' places
			m := message(fmt.Sprint("impatient", n), "impatient")
			m.Text = "!quota"
			s.sink.Messages(time.Time{}, []Message{m})
		}
		s.ask("1", 2)
		s.wait(time.Minute)
		said := s.platform.requests()
		if n := len(said); n != 3 || said[n-1] != `say in 1 to "quota14": answer to user14` {
			t.Errorf("answers to an impatient user: %q", said)
		}
		s.checkRequests(said...)
		s.ask("1", 40)
		s.wait(time.Minute)
		said = s.platform.requests()
		if n := len(said); n != maxCommands && n != maxCommands+1 || said[n-1] != `say in 1 to "quota54": answer to user54` {
			t.Errorf("%d answers: %q", n, said)
		}
		if !strings.Contains(log.String(), `"a chat command isn't answered" reason="too many are pending" channel=1`) {
			t.Error(log.String())
		}
	}, "delete")
}

// TestCommands_TooOld checks that an answer isn't sent long after the question. The account may
// send few messages here, because it doesn't moderate the channels.
func TestCommands_TooOld(t *testing.T) {
	var log strings.Builder
	testWithBot(t, Options{Answer: answerName, Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(s *stage) {
		for n := range sayPlain - reservedForModerators {
			s.ask(fmt.Sprint("channel", n), 1)
		}
		s.wait(3 * time.Second) // until there is room again, the age of a question is 32 s
		if n := len(s.platform.requests()); n != 16 {
			t.Errorf("%d answers", n)
		}
		s.ask("1", 2)
		s.wait(7 * time.Second)
		s.ask("1", 2)
		s.wait(2 * time.Minute)
		if got := s.platform.requests()[16:]; !slices.Equal(got, []string{`say in 1 to "quota19": answer to user19`, `say in 1 to "quota20": answer to user20`}) {
			t.Errorf("late answers: %q", got)
		}
		if !strings.Contains(log.String(), `reason="the bot may send no more messages for too long" channel=1`) {
			t.Error(log.String())
		}
	}, "delete")
}

// logWriter is a log that calls a function for each line.
type logWriter struct {
	strings.Builder
	each func()
}

func (w *logWriter) Write(line []byte) (int, error) {
	if w.each != nil {
		w.each()
	}
	return w.Builder.Write(line)
}

// TestCommands_TooManyOfModerators checks that the newest commands of moderators are dropped if too
// many are pending, because they have an order. A slow log holds up no other channel's commands.
func TestCommands_TooManyOfModerators(t *testing.T) {
	var log logWriter
	var release chan struct{}
	answered := 0
	answer := func(context.Context, chatguard.Message) string {
		<-release
		answered++
		return ""
	}
	testWithBot(t, Options{Answer: answer, Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(s *stage) {
		log.each = func() {
			if !s.bot.commands.mu.TryLock() {
				s.Error("it is written while the queues are locked")
				return
			}
			s.bot.commands.mu.Unlock()
		}
		release = make(chan struct{})
		for n := range maxCommands + 2 {
			m := message(fmt.Sprint("pause", n), "9", chatguard.RoleModerator)
			m.Text = "!chatguard pause"
			s.sink.Messages(time.Time{}, []Message{m})
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		if answered != maxCommands+1 || !strings.Contains(log.String(), `reason="too many are pending" channel=1 user=9`) {
			t.Errorf("%d answers; %s", answered, log.String())
		}
	}, "delete")
}

// TestCommands_Repeat checks that the log says so if nobody gets an answer because it would be a
// repeat, which the chat drops.
func TestCommands_Repeat(t *testing.T) {
	var log strings.Builder
	o := Options{Answer: func(context.Context, chatguard.Message) string { return "hello" }, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	testWithBot(t, o, func(s *stage) {
		s.ask("1", 2)
		s.wait(5 * time.Second)
		s.checkRequests(`say in 1 to "quota1": hello`)
		if !strings.Contains(log.String(), `reason="the answer is a repeat`) {
			t.Error(log.String())
		}
	}, "delete")
}

// TestCommands_Stop checks that no command holds up the end: those that would have to wait aren't
// answered.
func TestCommands_Stop(t *testing.T) {
	testWithBot(t, Options{Answer: answerName}, func(s *stage) {
		s.ask("1", 3)
		synctest.Wait()
		began := time.Now()
		s.stop()
		s.checkRequests(`say in 1 to "quota1": answer to user1`)
		if took := time.Since(began); took > 0 {
			t.Errorf("the end took %s", took)
		}
	}, "delete")
}

// TestCommands_AnswersDeleted checks that the answer is sent without being a reply if the command
// can't be replied to any more.
func TestCommands_AnswersDeleted(t *testing.T) {
	testWithBot(t, Options{Answer: answerName}, func(s *stage) {
		s.platform.noParent = true
		s.ask("1", 1)
		s.wait(time.Second)
		s.checkRequests(`say in 1 to "quota1": answer to user1`, `say in 1 to "": @User1 answer to user1`)
	}, "delete")
	if got := addressed("@anna: hello", "anna"); got != "@anna: hello" {
		t.Errorf("the answer is %q", got)
	}
}
