package irc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

func TestPacer(t *testing.T) {
	start := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	p := newPacer(3, 10*time.Second)
	for _, step := range []struct{ at, wait time.Duration }{
		{0, 0}, {time.Second, 0}, {time.Second, 0},
		{time.Second, 9 * time.Second}, {9999 * time.Millisecond, time.Millisecond},
		{10 * time.Second, 0}, {10 * time.Second, time.Second},
		{11 * time.Second, 0}, {11 * time.Second, 0},
		{12 * time.Second, 8 * time.Second},
		{40 * time.Second, 0}, {40 * time.Second, 0}, {40 * time.Second, 0}, {40 * time.Second, 10 * time.Second},
	} {
		now := start.Add(step.at)
		got := p.wait(now)
		if got != step.wait {
			t.Errorf("at %v: waits %v, want %v", step.at, got, step.wait)
		}
		if got == 0 {
			p.take(now)
		}
	}
}

// channelNames returns the logins of n channels.
func channelNames(n int) (logins []string) {
	for i := range n {
		logins = append(logins, fmt.Sprintf("room%d", i))
	}
	return logins
}

// linesWith returns the lines from clients that begin with a command, without the command.
func linesWith(srv *faketwitch.Server, command string) (lines []faketwitch.Received) {
	for _, r := range srv.Received() {
		if channel, ok := strings.CutPrefix(r.Line, command+" "); ok {
			r.Line = channel
			lines = append(lines, r)
		}
	}
	return lines
}

// TestJoin_HundredChannels checks that one connection reads 100 channels, joined in order at the
// pace that Twitch accepts.
func TestJoin_HundredChannels(t *testing.T) {
	logins := channelNames(100)
	twitchtest.Bubble(t, logins, func(t *testing.T, srv *faketwitch.Server) {
		irc := useBotToken(srv, &Conn{Channels: logins, Address: srv.IRCAddress(), Dial: srv.Dial})
		in := &twitchtest.Inbox{}
		run(t, irc, in.Deliver)
		twitchtest.Pass(4*joinPeriod - time.Second)
		if got := len(linesWith(srv, "JOIN")); got != 80 {
			t.Errorf("%d joins in 43 s, want 80", got)
		}
		twitchtest.Pass(2 * time.Second)
		joins := linesWith(srv, "JOIN")
		if len(joins) != 100 || srv.Connections() != 1 {
			t.Fatalf("%d joins by %d connections, want 100 by 1", len(joins), srv.Connections())
		}
		for n, join := range joins {
			if join.Line != "#"+logins[n] {
				t.Errorf("join %d is for %s", n, join.Line)
			}
			if n >= joinBurst && join.At.Sub(joins[n-joinBurst].At) < joinPeriod {
				t.Errorf("join %d comes %v after join %d", n, join.At.Sub(joins[n-joinBurst].At), n-joinBurst)
			}
		}
		for _, c := range irc.Status().Channels {
			if !c.Joined || c.RoomID != srv.UserID(c.Login) || c.Problem != "" {
				t.Errorf("channel %+v", c)
			}
			twitchtest.Say(t, srv, faketwitch.Line{Channel: c.Login, Login: "anna", Text: "hello"})
		}
		synctest.Wait()
		if got := len(in.All()); got != 100 {
			t.Errorf("%d messages from 100 channels", got)
		}
	})
}

// TestJoin_DelayedLines checks that no channel is lost if the network delays lines so that
// they arrive closer together than they were sent.
func TestJoin_DelayedLines(t *testing.T) {
	logins := channelNames(60)
	twitchtest.Bubble(t, logins, func(t *testing.T, srv *faketwitch.Server) {
		irc := useBotToken(srv, &Conn{Channels: logins, Address: srv.IRCAddress()})
		irc.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := srv.Dial(ctx, network, address)
			l := &laggingConn{Conn: conn, lines: make(chan []byte, 1000), end: make(chan struct{})}
			go l.deliver(time.Now().Add(joinPeriod / 2))
			return l, err
		}
		stop := run(t, irc, func([]chat.Message) {})
		twitchtest.Pass(3*joinPeriod + time.Second)
		if n := len(linesWith(srv, "JOIN")); n != len(logins) {
			t.Errorf("%d joins, want %d", n, len(logins))
		}
		for _, c := range irc.Status().Channels {
			if !c.Joined || c.Problem != "" {
				t.Errorf("%+v", c)
			}
		}
		must(t, stop())
		synctest.Wait()
	})
}

// laggingConn is a connection that delays each line sent for a moment.
type laggingConn struct {
	net.Conn
	lines  chan []byte
	end    chan struct{}
	ending sync.Once
}

func (l *laggingConn) Write(p []byte) (int, error) {
	l.lines <- slices.Clone(p)
	return len(p), nil
}

func (l *laggingConn) Close() error {
	l.ending.Do(func() { close(l.end) })
	return l.Conn.Close()
}

// deliver forwards the lines. Until the given time, it delays each of them.
func (l *laggingConn) deliver(until time.Time) {
	for {
		select {
		case line := <-l.lines:
			if time.Now().Before(until) {
				<-time.After(2 * time.Millisecond)
			}
			if _, err := l.Conn.Write(line); err != nil {
				return
			}
		case <-l.end:
			return
		}
	}
}

// TestJoin_Pacing checks that while joining waits, chat is read, PING is answered, and a channel is
// left at once.
func TestJoin_Pacing(t *testing.T) {
	logins := channelNames(45)
	twitchtest.Bubble(t, logins, func(t *testing.T, srv *faketwitch.Server) {
		irc := &Conn{Channels: logins, Address: srv.IRCAddress(), Dial: srv.Dial}
		in := &twitchtest.Inbox{}
		run(t, irc, in.Deliver)
		synctest.Wait()
		if got := len(linesWith(srv, "JOIN")); got != joinBurst {
			t.Fatalf("%d joins at once, want %d", got, joinBurst)
		}
		twitchtest.Say(t, srv, faketwitch.Line{Channel: "room0", Login: "anna", Text: "hello"})
		srv.SendRaw("PING :are you there")
		synctest.Wait()
		must(t, irc.SetChannels(logins[:44]))
		must(t, irc.SetChannels(logins[1:44]))
		synctest.Wait()
		parts := linesWith(srv, "PART")
		if len(in.All()) != 1 || twitchtest.Received(srv, "PONG :are you there") != 1 || len(parts) != 1 || parts[0].Line != "#room0" {
			t.Errorf("%d messages, left %v, received %+v", len(in.All()), parts, srv.Received())
		}
		twitchtest.Pass(2 * joinPeriod)
		if joins := linesWith(srv, "JOIN"); len(joins) != 44 || joins[43].Line != "#room43" {
			t.Errorf("joined with %d lines, want 44, a channel each", len(joins))
		}
	})
}

// TestSetChannels checks that channels are joined and left at run time. Messages from channels that
// were left aren't delivered, and an invalid name changes nothing.
func TestSetChannels(t *testing.T) {
	twitchtest.Bubble(t, []string{"room", "den", "attic"}, func(t *testing.T, srv *faketwitch.Server) {
		irc := &Conn{Channels: []string{"nowhere"}}
		must(t, irc.SetChannels([]string{"#Room", "den"}))
		in := connect(t, srv, irc)
		must(t, irc.SetChannels([]string{"attic", "room"}))
		late := "@id=late;user-id=5;room-id=" + srv.UserID("den") + " :anna!anna@a PRIVMSG #den :still on its way"
		srv.SendRaw(late)
		waitJoined(t, irc)
		for _, login := range []string{"room", "den", "attic"} {
			twitchtest.Say(t, srv, faketwitch.Line{Channel: login, Login: "anna", Text: login})
		}
		in.Wait(t, 2)
		for _, bad := range [][]string{nil, {"room", "a room"}, {"room\r\nQUIT"}} {
			if err := irc.SetChannels(bad); !errors.Is(err, twitch.ErrChannel) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		synctest.Wait()
		if got := in.All(); len(got) != 2 || got[0].Text != "room" || got[1].Text != "attic" {
			t.Errorf("delivered %+v", got)
		}
		if s := irc.Status(); len(s.Channels) != 2 || s.Channels[0].Login != "attic" || s.Channels[1].Login != "room" || s.Reconnects != 0 {
			t.Errorf("status %+v", s)
		}
		if parts := linesWith(srv, "PART"); len(parts) != 1 || parts[0].Line != "#den" {
			t.Errorf("left %+v", parts)
		}
		srv.Disconnect()
		twitchtest.Pass(time.Second)
		waitJoined(t, irc)
		if joins := linesWith(srv, "JOIN"); len(joins) != 5 {
			t.Errorf("joined %+v; the next connection should join those that are wanted by then", joins)
		}
	})
}

// TestJoin_AfterLeave checks that a channel that is wanted again is joined again.
func TestJoin_AfterLeave(t *testing.T) {
	twitchtest.Bubble(t, []string{"room", "den"}, func(t *testing.T, srv *faketwitch.Server) {
		irc := &Conn{Channels: []string{"room", "den"}}
		in := connect(t, srv, irc)
		for n, logins := range [][]string{{"room"}, {"room", "den"}, {"room"}, {"den", "room"}} {
			must(t, irc.SetChannels(logins))
			synctest.Wait()
			twitchtest.Say(t, srv, faketwitch.Line{Channel: "den", Login: "anna", Text: "hello"})
			synctest.Wait()
			if got := len(in.All()); got != (n+1)/2 {
				t.Errorf("step %d: %d messages", n, got)
			}
		}
		waitJoined(t, irc)
		// The channel is wanted again before the session notices the change, so nothing happens.
		before := len(srv.Received())
		for _, logins := range [][]string{{"room"}, {"room", "den"}} {
			must(t, irc.SetChannels(logins))
		}
		waitJoined(t, irc)
		synctest.Wait()
		twitchtest.Say(t, srv, faketwitch.Line{Channel: "den", Login: "anna", Text: "hello"})
		synctest.Wait()
		if got := len(in.All()); got != 3 {
			t.Errorf("%d messages; %+v", got, srv.Received()[before:])
		}
		parts := len(linesWith(srv, "PART"))
		must(t, irc.SetChannels([]string{"room"}))
		srv.SendRaw("@room-id=" + srv.UserID("den") + ";slow=30 :tmi.twitch.tv ROOMSTATE #den") // on its way when we leave
		synctest.Wait()
		if left := linesWith(srv, "PART")[parts:]; len(left) != 1 {
			t.Errorf("left %+v", left)
		}
	})
}

// TestJoin_NotAccepted checks that a channel that must not be read is left at once, and joined
// again after a minute.
func TestJoin_NotAccepted(t *testing.T) {
	twitchtest.Bubble(t, []string{"room", "den"}, func(t *testing.T, srv *faketwitch.Server) {
		const problem = "another account's"
		var accepted atomic.Bool
		irc := &Conn{Address: srv.IRCAddress(), Dial: srv.Dial, Channels: []string{"room", "den"}, Vet: func(login, roomID string) string {
			if login == "den" && roomID == srv.UserID("den") && !accepted.Load() {
				return problem
			}
			return ""
		}}
		in := &twitchtest.Inbox{}
		run(t, irc, in.Deliver)
		synctest.Wait()
		say := func() {
			twitchtest.Say(t, srv, faketwitch.Line{Channel: "den", Login: "anna", Text: "hello"})
			synctest.Wait()
		}
		say()
		parts := linesWith(srv, "PART")
		if c := irc.Status().Channels[1]; c.Joined || c.Refusal != twitch.OtherChannel || c.Problem != problem || len(parts) != 1 || parts[0].Line != "#den" || len(in.All()) != 0 {
			t.Errorf("%+v, left %+v", c, parts)
		}
		accepted.Store(true)
		twitchtest.Pass(joinAgain)
		say()
		if c := irc.Status().Channels[1]; !c.Joined || c.Problem != "" || len(in.All()) != 1 {
			t.Errorf("accepted: %+v, %d messages", c, len(in.All()))
		}
	})
}

// TestJoin_Retried checks that a JOIN that Twitch ignored is sent again soon, and then once a
// minute. The status shows a problem once the second JOIN has failed, too, and until the channel is
// joined.
func TestJoin_Retried(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		srv.IgnoreJoins(3)
		irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial}
		run(t, irc, func([]chat.Message) {})
		for _, step := range []struct {
			wait    time.Duration
			joins   int
			joined  bool
			problem string
		}{
			{14 * time.Second, 1, false, ""},
			{2 * time.Second, 2, false, ""},
			{13 * time.Second, 2, false, ""},
			{2 * time.Second, 2, false, noAnswer},
			{43 * time.Second, 2, false, noAnswer},
			{2 * time.Second, 3, false, noAnswer},
			{58 * time.Second, 3, false, noAnswer},
			{2 * time.Second, 4, true, ""},
			{time.Hour, 4, true, ""},
		} {
			twitchtest.Pass(step.wait)
			c := irc.Status().Channels[0]
			if got := len(linesWith(srv, "JOIN")); got != step.joins || c.Joined != step.joined || c.Problem != step.problem || c.ShutOut != (step.problem != "") || c.ShutOut != (c.Refusal == twitch.NotAnswered) {
				t.Errorf("after %v more: %d joins, want %d; %+v", step.wait, got, step.joins, c)
			}
		}
		if s := irc.Status(); s.Reconnects != 0 {
			t.Errorf("%d reconnects", s.Reconnects)
		}
	})
}

// TestJoin_SuspendedChannel checks that a suspended channel is reported once. Joining is retried at
// the allowed pace, until it succeeds.
func TestJoin_SuspendedChannel(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		logins := append(slices.Clone(channelNames(30)), "room")
		irc := &Conn{Channels: logins, Address: srv.IRCAddress(), Dial: srv.Dial}
		run(t, irc, func([]chat.Message) {})
		twitchtest.Pass(5 * time.Second)
		told := irc.Status().DetailAt
		twitchtest.Pass(114 * time.Second)
		s := irc.Status()
		if !strings.Contains(s.Channels[0].Problem, "does not exist") || !s.Channels[30].Joined || !strings.Contains(s.Detail, "#room29") || s.DetailAt.Sub(told) > joinPeriod {
			t.Errorf("status %+v", s)
		}
		joins := linesWith(srv, "JOIN")
		for n := joinBurst; n < len(joins); n++ {
			if joins[n].At.Sub(joins[n-joinBurst].At) < joinPeriod {
				t.Fatalf("join %d comes %v after join %d", n, joins[n].At.Sub(joins[n-joinBurst].At), n-joinBurst)
			}
		}
		if len(joins) != 31+30 {
			t.Errorf("%d joins in 2 minutes, want 61", len(joins))
		}
		srv.AddChannel("room7")
		twitchtest.Pass(time.Minute)
		if c := irc.Status().Channels[7]; !c.Joined || c.Problem != "" {
			t.Errorf("channel %+v", c)
		}
	})
}

// TestJoin_Refused checks that the reason for which Twitch refuses a join is known.
func TestJoin_Refused(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		srv.IgnoreJoins(1)
		irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial}
		run(t, irc, func([]chat.Message) {})
		twitchtest.Pass(time.Second)
		for id, want := range map[string]twitch.Refusal{
			"msg_banned": twitch.Banned, "msg_channel_blocked": twitch.OtherRefusal, "msg_channel_suspended": twitch.NoChannel, "msg_room_not_found": twitch.NoChannel,
		} {
			srv.SendRaw("@msg-id=" + id + " :tmi.twitch.tv NOTICE #room :" + id)
			twitchtest.Pass(time.Second)
			if c := irc.Status().Channels[0]; !c.ShutOut || c.Refusal != want || c.Problem != id {
				t.Errorf("%s: %+v", id, c)
			}
		}
	})
}

// TestJoin_ConcurrentSetChannels checks that channels may change during the first joins, and that
// the wanted ones are joined in the end. It relies on the race detector.
func TestJoin_ConcurrentSetChannels(t *testing.T) {
	logins := channelNames(10)
	twitchtest.Bubble(t, logins, func(t *testing.T, srv *faketwitch.Server) {
		irc := &Conn{Channels: logins[:5], Address: srv.IRCAddress(), Dial: srv.Dial}
		run(t, irc, func([]chat.Message) {})
		var changing sync.WaitGroup
		for n := range 4 {
			changing.Go(func() {
				for i := range 50 {
					if err := irc.SetChannels(logins[(n+i)%9:]); err != nil {
						t.Error(err)
					}
					irc.Status()
				}
			})
		}
		changing.Wait()
		must(t, irc.SetChannels(logins[2:8]))
		twitchtest.Pass(5 * time.Minute)
		s := irc.Status()
		if len(s.Channels) != 6 || slices.ContainsFunc(s.Channels, func(c twitch.Channel) bool { return !c.Joined }) {
			t.Errorf("channels %+v", s.Channels)
		}
		must(t, srv.WaitJoined(t.Context(), 6))
	})
}
