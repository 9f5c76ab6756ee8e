package control

import (
	"context"
	"errors"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// ErrNoModes means that people can't switch the modes of a channel's chat.
var ErrNoModes = errors.New("the chat modes of this channel can't be switched here: chatguard does not moderate its chat")

// ChatModes switch the modes of channels' chats, such as slow mode. They are safe for concurrent
// use.
type ChatModes struct {
	records *records
	acts    *Acts // the Chat's
}

// Change switches modes of a channel's chat for a person. It returns when the chat has confirmed
// the change.
func (c *ChatModes) Change(ctx context.Context, channelID, author string, change journal.ChatModesChange) (saved bool, err error) {
	if c.acts.Serves == nil || c.acts.SetModes == nil || !c.acts.Serves(channelID) {
		return false, ErrNoModes
	}
	if err := change.Check(); err != nil {
		return false, err
	}
	ctx, cancel := policies.UntilKept(ctx)
	defer cancel()
	audit := journal.Audit{Author: author, Action: journal.ChatModesChanged, ChannelID: channelID, Detail: change}
	if err := c.acts.SetModes(ctx, channelID, change); err != nil {
		return false, c.records.failed(ctx, audit, err)
	}
	return c.records.add(ctx, audit)
}
