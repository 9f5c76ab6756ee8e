package twitchbot

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// Offline returns a connection that does nothing. Use it if chatguard only answers servers of other
// chats.
func Offline(log *slog.Logger) *Connection {
	return &Connection{log: log, reader: noReader{}, permissions: newPermissions(log, nil), streams: newStreams(log, time.Now, nil), modes: newModes(log, nil)}
}

// noReader is a reader without channels or a connection.
type noReader struct{}

// Run waits until the context ends.
func (noReader) Run(ctx context.Context, _ chat.Sink) error {
	<-ctx.Done()
	return nil
}

// SetChannels refuses any channel, because a reload can't connect to Twitch.
func (noReader) SetChannels(logins []string) error {
	if len(logins) > 0 {
		return errors.New("twitch.channels: chatguard was started without any: restart it to connect to Twitch")
	}
	return nil
}

// Status returns an empty status.
func (noReader) Status() twitch.Status { return twitch.Status{} }
