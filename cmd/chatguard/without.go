package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// withoutTwitch returns a connection that is none, for a chatguard that only servers of other chats ask.
func withoutTwitch(log *slog.Logger) *twitchConnection {
	return &twitchConnection{log: log, reader: nobody{}, rights: newRights(log)}
}

// nobody is a reader of no channel, and without a connection.
type nobody struct{}

// Run waits for the context's end.
func (nobody) Run(ctx context.Context, _ chat.Sink) error {
	<-ctx.Done()
	return nil
}

// SetChannels refuses any channel: a reload can't connect to what the start hasn't.
func (nobody) SetChannels(logins []string) error {
	if len(logins) > 0 {
		return errors.New("twitch.channels: chatguard was started without any: restart it to connect to Twitch")
	}
	return nil
}

// Status says that nothing is read.
func (nobody) Status() twitch.Status { return twitch.Status{} }
