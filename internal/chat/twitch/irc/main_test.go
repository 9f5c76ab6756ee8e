package irc

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

var _ chat.Source = (*Conn)(nil)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must = twitchtest.Must

// run runs i until the test ends or stop is called. stop returns Run's error.
func run(t testing.TB, i *Conn, deliver func([]chat.Message)) (stop func() error) {
	t.Helper()
	return twitchtest.Run(t, i, twitchtest.MessagesTo(deliver))
}

// useBotToken makes i log in with the bot's token.
func useBotToken(srv *faketwitch.Server, i *Conn) *Conn {
	i.Login, i.Token = srv.BotLogin, twitchtest.TokenOf(srv.Token())
	return i
}

// connect runs i on the fake Twitch's channels until the test ends. It returns once the channels
// are joined.
func connect(t testing.TB, srv *faketwitch.Server, i *Conn) *twitchtest.Inbox {
	t.Helper()
	i.Address, i.Dial = srv.IRCAddress(), srv.Dial
	in := &twitchtest.Inbox{}
	run(t, i, in.Deliver)
	waitJoined(t, i)
	return in
}

// waitJoined waits until all channels are joined.
func waitJoined(t testing.TB, i *Conn) {
	t.Helper()
	twitchtest.Eventually(t, "all channels joined", func() bool {
		s := i.Status()
		return len(s.Channels) > 0 && !slices.ContainsFunc(s.Channels, func(c twitch.Channel) bool { return !c.Joined })
	})
}
