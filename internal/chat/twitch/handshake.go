package twitch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// dial opens the connection within the time for the handshake.
func (s *session) dial(ctx context.Context) (err error) {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(s.timing.Handshake))
	defer cancel()
	if s.wire, err = s.irc.dial(ctx); err != nil {
		return fmt.Errorf("can't reach the chat server: %w", err)
	}
	return nil
}

// introduce asks for tags and says who we are. The server's answers are read with everything else.
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

// credentials are the login and the bare token to introduce ourselves with; without a token an anonymous login.
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
	if pass, err = bareToken(token); err != nil {
		return "", "", fmt.Errorf("%w (%w)", ErrLogin, err)
	}
	if s.irc.Login != nil {
		login = strings.ToLower(s.irc.Login())
	}
	if !isLogin(login) {
		return "", "", fmt.Errorf("%w (%q can't be its login)", ErrLogin, login)
	}
	s.token = token
	return login, pass, nil
}

// control acts on a line that is no chat. An error ends the connection.
func (s *session) control(line rawLine) error {
	switch line.command {
	case "PING":
		if hasControl(line.params) {
			s.irc.skip(Malformed)
			return nil
		}
		return s.write("PONG " + line.params)
	case "001", "376", "GLOBALUSERSTATE":
		s.welcomeOnce()
	case "ROOMSTATE":
		s.welcomeOnce()
		s.reads(line)
	case "USERSTATE":
		s.learnStanding(line)
	case "NOTICE":
		return s.notice(line)
	case "RECONNECT":
		return errReconnect
	case "CAP":
		if strings.Contains(line.params, " NAK ") && strings.Contains(line.params, "twitch.tv/tags") {
			return errNoTags
		}
	}
	return nil
}

// welcomeOnce takes the first sign that the server let us in. Servers differ in which of them they send.
func (s *session) welcomeOnce() {
	if !s.welcomed.IsZero() {
		return
	}
	s.welcomed = s.irc.now()
	s.irc.enter(Connected)
	s.irc.logger().Info("twitch chat connected")
	close(s.welcome)
}

// notice tells a refused login, which ends the connection, from what the server has to say about a channel, which is worth showing.
func (s *session) notice(line rawLine) error {
	text := line.text()
	if line.target() != "*" {
		s.noticeIn(line.channel(), line.tag("msg-id"), text)
		return nil
	}
	for _, refusal := range []string{"Login authentication failed", "Improperly formatted auth", "Login unsuccessful", "Invalid NICK"} {
		if s.welcomed.IsZero() && strings.HasPrefix(text, refusal) {
			return fmt.Errorf("%w (Twitch: %s)", ErrLogin, refusal)
		}
	}
	return nil
}

// noticeIn takes note of what the server says about a channel: that it doesn't let us in, or that something else is wrong.
func (s *session) noticeIn(channel, id, text string) {
	switch {
	case id == "msg_channel_suspended" || id == "msg_channel_blocked" || id == "msg_room_not_found" || id == "msg_banned":
		s.irc.shutOut(channel, text)
	case strings.HasPrefix(id, "msg_"):
		s.irc.trouble(fmt.Errorf("channel #%s: %s", channel, text))
	}
}
