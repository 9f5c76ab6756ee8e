package app

import (
	"context"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/control"
)

// user returns the ID and the login of the user with a name. A name that can be a login is one.
// Any other name is a display name, which only users who have written before have: Twitch finds
// nobody by it.
func (a *App) user(ctx context.Context, channelID, name string) (id, login string, err error) {
	if login = strings.ToLower(name); twitch.IsLogin(login) {
		id, err = a.userByLogin(ctx, channelID, login)
		return id, login, err
	}
	switch named, err := a.Host.Store.UsersNamed(ctx, channelID, name); {
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

// userByLogin looks among users who have written before, then asks Twitch.
func (a *App) userByLogin(ctx context.Context, channelID, login string) (string, error) {
	id, ok, err := a.Host.Store.UserByLogin(ctx, channelID, login)
	if ok {
		return id, nil
	}
	if err != nil {
		a.log.Warn("a user can't be looked up in the database", "login", login, "error", err)
	}
	accounts, err := a.Twitch.LookUp(ctx, []string{login})
	switch {
	case err != nil:
		return "", err
	case len(accounts) == 0:
		return "", control.ErrNoUser
	}
	return accounts[0].ID, nil
}
