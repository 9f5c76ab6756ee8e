package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
)

// forget deletes everything about a user. It begins with the usage, strikes, overrides and grants
// in this process and in the shared store. It then deletes all rows in the database, and what the
// dashboard shows.
func (a *App) forget(ctx context.Context, userID string) error {
	a.Host.Store.Commit(ctx) // so that the database knows all channels in which the user has written
	channels, err := a.Host.Store.UserChannels(ctx, userID)
	if err != nil {
		return err
	}
	for _, id := range channels {
		if err := a.forgetIn(ctx, journal.Target{ChannelID: id, UserID: userID, Author: auth.OwnerName}); err != nil {
			return err
		}
	}
	if err := a.node.Delete(ctx, userID); err != nil {
		return fmt.Errorf("nothing was deleted from the database, because the shared store can't be changed: %w", err)
	}
	err = a.Host.Store.Forget(ctx, userID)
	a.Web.Forget(userID) // also after an error: the rows are deleted, or will be
	if err == nil {
		a.log.Info("deleted everything about a user")
	}
	return err
}

// forgetIn resets a user of a channel to the state of a user who was never seen. An empty channel
// means the limits that count across all channels.
func (a *App) forgetIn(ctx context.Context, t journal.Target) error {
	var err error
	if t.ChannelID == "" {
		everywhere := chatguard.Key{UserID: t.UserID, Per: chatguard.PerUserEverywhere}
		err = errors.Join(a.Guard.SetUserOverride(ctx, everywhere, chatguard.UserOverride{}), a.Guard.Reset(ctx, everywhere))
	} else if _, err = a.Host.Controls.Users.SetOverride(ctx, t, nil, chatguard.UserOverride{}); err == nil {
		_, err = a.Host.Controls.Users.Reset(ctx, t)
	}
	if errors.Is(err, chatguard.ErrNoLimit) {
		return nil // nothing counts there
	}
	return err
}
