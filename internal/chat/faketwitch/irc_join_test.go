package faketwitch

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// botLogin returns the lines with which the bot logs in.
func botLogin(s *Server) []string {
	return []string{"CAP REQ :twitch.tv/tags twitch.tv/commands", "PASS oauth:" + s.Token(), "NICK " + s.BotLogin()}
}

// ask sends a line, then a PING, and returns what the server sent before the PONG.
func (c *chatter) ask(line string) (answer string) {
	c.t.Helper()
	fmt.Fprintf(c.conn, "%s\r\nPING :done\r\n", line)
	for c.lines.Scan() {
		if strings.HasSuffix(c.lines.Text(), " :done") {
			break
		}
		answer += c.lines.Text() + "\n"
	}
	return answer
}

func TestUserState(t *testing.T) {
	s := start(t, Options{Channels: []string{"room", "den"}})
	s.AddChannel(s.BotLogin())
	s.SetBotModerator("den", false)
	bot := dial(t, s, botLogin(s)...)
	for channel, want := range map[string]string{
		"room":       "badges=moderator/1;color=;display-name=chatguard_bot;emote-sets=0;mod=1;",
		"den":        "badges=;color=;display-name=chatguard_bot;emote-sets=0;mod=0;",
		s.BotLogin(): "badges=broadcaster/1;color=;display-name=chatguard_bot;emote-sets=0;mod=0;",
	} {
		answer := bot.ask("JOIN #" + channel)
		state, room := strings.Index(answer, " USERSTATE #"+channel), strings.Index(answer, " ROOMSTATE #"+channel)
		if !strings.Contains(answer, want) || state < 0 || room < state {
			t.Errorf("%s: %s", channel, answer)
		}
	}
	if answer := dial(t, s, anonymous...).ask("JOIN #room"); strings.Contains(answer, "USERSTATE") || !strings.Contains(answer, "ROOMSTATE") {
		t.Errorf("anonymous: %s", answer)
	}
	if answer := bot.ask("JOIN #nowhere"); !strings.HasPrefix(answer, "@msg-id=msg_channel_suspended :tmi.twitch.tv NOTICE #nowhere :") {
		t.Errorf("unknown channel: %s", answer)
	}
}

// TestJoin_AfterRename checks that a client which has joined a channel by its former name can join
// others.
func TestJoin_AfterRename(t *testing.T) {
	s := start(t, Options{Channels: []string{"room", "den"}})
	bot := dial(t, s, botLogin(s)...)
	bot.ask("JOIN #room")
	s.Rename("room", "hall")
	if answer := bot.ask("JOIN #den"); !strings.Contains(answer, " ROOMSTATE #den") {
		t.Errorf("after a rename: %s", answer)
	}
}

// TestJoin_Limits checks that an account's further joins are ignored after 20 joins in 10 s, on any
// connection.
func TestJoin_Limits(t *testing.T) {
	clock := newClock()
	s := start(t, Options{Channels: []string{"room"}, Now: clock.Now})
	one, two := dial(t, s, botLogin(s)...), dial(t, s, botLogin(s)...)
	for n := range 25 {
		c := one
		if n%2 == 1 {
			c = two
		}
		if answer := c.ask("JOIN #room"); strings.Contains(answer, "ROOMSTATE") != (n < joinsPerPeriod) {
			t.Errorf("join %d: %q", n, answer)
		}
	}
	if answer := dial(t, s, anonymous...).ask("JOIN #room"); !strings.Contains(answer, "ROOMSTATE") {
		t.Error("somebody else has to wait, too")
	}
	clock.advance(joinPeriod)
	if answer := one.ask("JOIN #room"); !strings.Contains(answer, "ROOMSTATE") {
		t.Error("ignored 10 s later")
	}
	s.IgnoreJoins(1)
	if one.ask("JOIN #room") != "" || one.ask("JOIN #room") == "" {
		t.Error("IgnoreJoins(1) has to ignore the next, and that only")
	}
}

// TestJoin_ChannelLimit checks the limit of 100 channels, which doesn't count channels that the bot
// moderates.
func TestJoin_ChannelLimit(t *testing.T) {
	clock := newClock()
	s := start(t, Options{Now: clock.Now})
	bot := dial(t, s, botLogin(s)...)
	s.LimitChannels(true)
	joins := func(n int, moderates bool) bool {
		login := fmt.Sprintf("room%d", n)
		s.AddChannel(login)
		s.SetBotModerator(login, moderates)
		clock.advance(time.Second)
		return strings.Contains(bot.ask("JOIN #"+login), "ROOMSTATE")
	}
	for n := range maxJoined {
		if !joins(n, false) {
			t.Fatalf("no room for channel %d", n)
		}
	}
	if joins(100, false) || !joins(101, true) {
		t.Error("the 101st has to be one it moderates")
	}
	bot.ask("PART #room0")
	if !joins(102, false) {
		t.Error("no room after leaving one")
	}
	s.LimitChannels(false)
	if !joins(103, false) {
		t.Error("limited for good")
	}
}
