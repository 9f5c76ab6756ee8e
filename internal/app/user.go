package app

import (
	"context"
	"log/slog"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/persist"
)

// users finds users by name.
type users struct {
	store  *persist.Store
	twitch *twitchbot.Connection
	log    *slog.Logger
}

// find returns the ID and the login of the user with a name. A name that can be a login is looked
// up as a login. Any other name is looked up as a display name among users who have written before,
// because Twitch finds nobody by a display name.
func (u *users) find(ctx context.Context, channelID, name string) (id, login string, err error) {
	if login = strings.ToLower(name); twitch.IsLogin(login) {
		id, err = u.byLogin(ctx, channelID, login)
		return id, login, err
	}
	switch named, err := u.store.UsersNamed(ctx, channelID, name); {
	case err != nil:
		return "", "", err
	case len(named) == 0:
		return "", "", control.ErrNoName
	case len(named) > 1:
		return "", "", control.ErrNamesakes
	default:
		return named[0].UserID, named[0].Login, nil
	}
}

// byLogin looks among users who have written before, then asks Twitch.
func (u *users) byLogin(ctx context.Context, channelID, login string) (string, error) {
	id, ok, err := u.store.UserByLogin(ctx, channelID, login)
	if ok {
		return id, nil
	}
	if err != nil {
		u.log.Warn("a user can't be looked up in the database", "login", login, "error", err)
	}
	accounts, err := u.twitch.LookUp(ctx, []string{login})
	switch {
	case err != nil:
		return "", err
	case len(accounts) == 0:
		return "", control.ErrNoUser
	}
	return accounts[0].ID, nil
}
