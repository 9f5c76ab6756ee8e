package irc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/hostile"
)

// dial opens the connection within the handshake timeout.
func (s *session) dial(ctx context.Context) (err error) {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(s.timing.Handshake))
	defer cancel()
	if s.transport, err = s.irc.dial(ctx); err != nil {
		return fmt.Errorf("can't reach the chat server: %w", err)
	}
	return nil
}

// introduce requests tags and sends the login. The server's answers are read with everything else.
func (s *session) introduce(login, pass string) error {
	hello := []string{"CAP REQ :twitch.tv/tags twitch.tv/commands"}
	if pass != "" {
		hello = append(hello, "PASS oauth:"+pass)
	}
	for _, line := range append(hello, "NICK "+login) {
		if err := s.write(line); err != nil {
			return err
		}
	}
	return nil
}

// credentials returns the login and the bare token for the connection, or an anonymous login if
// there is no token.
func (s *session) credentials(ctx context.Context) (login, pass string, err error) {
	token := ""
	if s.irc.Token != nil {
		if token, err = s.irc.Token(ctx); err != nil {
			return "", "", fmt.Errorf("no token for the chat: %w", err)
		}
	}
	if token == "" {
		return fmt.Sprintf("justinfan%d", 10_000+rand.IntN(90_000)), "", nil
	}
	if pass, err = twitch.BareToken(token); err != nil {
		return "", "", fmt.Errorf("%w (%w)", ErrLogin, err)
	}
	if s.irc.Login != nil {
		login = strings.ToLower(s.irc.Login())
	}
	if !twitch.IsLogin(login) {
		return "", "", fmt.Errorf("%w (%q can't be its login)", ErrLogin, login)
	}
	s.token = token
	return login, pass, nil
}

// control handles a line that isn't chat. An error ends the connection.
func (s *session) control(line rawLine) error {
	switch line.command {
	case "PING":
		if hostile.HasControl(line.params) {
			s.irc.report.Skip(twitch.Malformed)
			return nil
		}
		return s.write("PONG " + line.params)
	case "001", "376", "GLOBALUSERSTATE":
		s.noteWelcome()
	case "ROOMSTATE":
		s.noteWelcome()
		if _, wanted := s.irc.report.Channel(line.channel()); wanted && !s.learnChannel(line) {
			return s.write("PART #" + line.channel())
		}
		s.reportModes(line)
	case "USERSTATE":
		s.learnModerator(line)
	case "NOTICE":
		return s.notice(line)
	case "RECONNECT":
		return twitch.ErrReconnect
	case "CAP":
		if strings.Contains(line.params, " NAK ") && strings.Contains(line.params, "twitch.tv/tags") {
			return errNoTags
		}
	}
	return nil
}

// noteWelcome handles the first sign that the server accepted the login. Servers differ in the
// signs that they send.
func (s *session) noteWelcome() {
	if !s.welcomed.IsZero() {
		return
	}
	s.welcomed = s.irc.Clock.Now()
	s.irc.report.Enter(twitch.Connected)
	s.irc.report.Log.Info("twitch chat connected")
	close(s.welcome)
}

// notice handles a NOTICE. A refused login ends the connection. A message about a channel is
// reported.
func (s *session) notice(line rawLine) error {
	text := line.text()
	if line.target() != "*" {
		s.noteChannelNotice(line.channel(), line.tag("msg-id"), text)
		return nil
	}
	for _, refusal := range []string{"Login authentication failed", "Improperly formatted auth", "Login unsuccessful", "Invalid NICK"} {
		if s.welcomed.IsZero() && strings.HasPrefix(text, refusal) {
			return fmt.Errorf("%w (Twitch: %s)", ErrLogin, refusal)
		}
	}
	return nil
}

// noteChannelNotice records the server's message about a channel: the join was refused, or there is
// another problem.
func (s *session) noteChannelNotice(channel, id, text string) {
	refusal, isRefusal := refusals[id]
	switch {
	case isRefusal:
		s.irc.report.ShutOut(channel, refusal, text)
	case strings.HasPrefix(id, "msg_"):
		s.irc.report.Trouble(fmt.Errorf("channel #%s: %s", channel, text))
	}
}

// refusals are the IDs of the NOTICEs with which the server refuses a join.
var refusals = map[string]twitch.Refusal{
	"msg_banned":            twitch.Banned,
	"msg_channel_blocked":   twitch.OtherRefusal,
	"msg_channel_suspended": twitch.NoChannel,
	"msg_room_not_found":    twitch.NoChannel,
}
