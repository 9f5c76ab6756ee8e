package twitch

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
)

// dial opens the connection, with TLS where that is configured, within the time for the handshake.
func (s *session) dial(ctx context.Context) error {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(s.timing.Handshake))
	defer cancel()
	address := s.irc.Address
	var err error
	if s.irc.TLS == nil {
		var d net.Dialer
		s.conn, err = d.DialContext(ctx, "tcp", cmp.Or(address, plainAddress))
	} else {
		d := tls.Dialer{Config: s.irc.TLS}
		s.conn, err = d.DialContext(ctx, "tcp", cmp.Or(address, tlsAddress))
	}
	if err != nil {
		return fmt.Errorf("can't reach the chat server: %w", err)
	}
	return nil
}

// introduce asks for tags and says who we are. The server's answers are read with everything else.
func (s *session) introduce(login, token string) error {
	hello := []string{"CAP REQ :twitch.tv/tags twitch.tv/commands"}
	if token != "" {
		hello = append(hello, "PASS oauth:"+token)
	}
	for _, line := range append(hello, "NICK "+login) {
		if err := s.write(line); err != nil {
			return err
		}
	}
	return nil
}

// credentials are the login and the bare token to introduce ourselves with; without a token an anonymous login.
func (s *session) credentials(ctx context.Context) (login, token string, err error) {
	if s.irc.Token != nil {
		if token, err = s.irc.Token(ctx); err != nil {
			return "", "", fmt.Errorf("no token for the chat: %w", err)
		}
	}
	if token == "" {
		return fmt.Sprintf("justinfan%d", 10_000+rand.IntN(90_000)), "", nil
	}
	if token, err = bareToken(token); err != nil {
		return "", "", fmt.Errorf("%w (%w)", ErrLogin, err)
	}
	if login = strings.ToLower(s.irc.Login); !isLogin(login) {
		return "", "", fmt.Errorf("%w (%q can't be its login)", ErrLogin, s.irc.Login)
	}
	return login, token, nil
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
		s.enterRoom(line)
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
	s.irc.logger().Info("twitch chat connected", "channels", len(s.channels))
	s.welcome()
}

// enterRoom takes a line from a channel as the sign that we are in it, and learns its room ID.
func (s *session) enterRoom(line rawLine) {
	channel := strings.TrimPrefix(line.target(), "#")
	if s.entered[channel] {
		return
	}
	if room := line.tag("room-id"); isID(room) && slices.Contains(s.channels, channel) {
		s.entered[channel] = true
		if s.irc.Entered != nil {
			s.irc.Entered(channel, room)
		}
		s.irc.learnRoom(channel, room)
	}
}

// notice tells a refused login, which ends everything, from what the server has to say about a channel, which is worth showing.
func (s *session) notice(line rawLine) error {
	text := line.text()
	if line.target() != "*" {
		if strings.HasPrefix(line.tag("msg-id"), "msg_") {
			s.irc.trouble(fmt.Errorf("channel %s: %s", line.target(), text))
		}
		return nil
	}
	for _, refusal := range []string{"Login authentication failed", "Improperly formatted auth", "Login unsuccessful", "Invalid NICK"} {
		if s.welcomed.IsZero() && strings.HasPrefix(text, refusal) {
			return fmt.Errorf("%w (Twitch: %s)", ErrLogin, refusal)
		}
	}
	return nil
}
