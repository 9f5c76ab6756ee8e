package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/persist"
)

// ownerSetting is the prefix of the names of settings that hold the ID of an owner's account. The
// login follows it. The settings belong to no channel.
const ownerSetting = "owner:"

// owners are the accounts on Twitch with all rights over the installation. The configuration names
// them by login. Twitch gives free logins to other people, so an owner is identified by the ID of
// the first account that signs in with the login. The ID is forgotten if the configuration no
// longer names the login. owners are safe for concurrent use.
type owners struct {
	names func() []string // those of the configuration now
	store *persist.Store
	log   *slog.Logger

	mu  sync.Mutex
	ids map[string]string // by login
}

// newOwners returns the owners that earlier processes have saved in the settings. settings are
// those that belong to no channel.
func newOwners(names func() []string, store *persist.Store, settings map[string]string, log *slog.Logger) *owners {
	o := &owners{names: names, store: store, log: log, ids: map[string]string{}}
	for name, id := range settings {
		if login, ok := strings.CutPrefix(name, ownerSetting); ok {
			o.ids[login] = id
		}
	}
	return o
}

// Names implements twitchsignin.Owners.
func (o *owners) Names() []string { return o.names() }

// Has implements twitchsignin.Owners.
func (o *owners) Has(id string) bool {
	names := o.names()
	if len(names) == 0 || id == "" {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(names, func(login string) bool { return o.ids[login] == id })
}

// See implements twitchsignin.Owners.
func (o *owners) See(ctx context.Context, account person.Account) {
	if account.ID == "" || !slices.Contains(o.names(), account.Login) {
		return
	}
	o.mu.Lock()
	known := o.ids[account.Login]
	if known == "" {
		o.ids[account.Login] = account.ID
	}
	o.mu.Unlock()
	log := o.log.With("login", hostile.Detail(account.Login), "id", hostile.Detail(account.ID))
	switch known {
	case account.ID:
	case "":
		log.Info("an account that web.owners names has signed in, and has all rights from now on")
		o.save(ctx, account.Login, account.ID)
	default:
		log.Warn("an account has the login of an owner but another ID, so it is no owner: if it should be, remove the login from web.owners, reload, and add it again",
			"owner_id", known)
	}
}

// forget forgets the accounts of logins that the configuration no longer names.
func (o *owners) forget() {
	names := o.names()
	o.mu.Lock()
	var gone []string
	for login := range o.ids {
		if !slices.Contains(names, login) {
			gone = append(gone, login)
			delete(o.ids, login)
		}
	}
	o.mu.Unlock()
	for _, login := range gone {
		o.save(context.Background(), login, "")
	}
}

// saveTime is how long save waits for the database. What isn't stored by then is stored later.
const saveTime = 2 * time.Second

// save keeps the ID of an owner's account across restarts. An empty ID removes the stored one.
func (o *owners) save(ctx context.Context, login, id string) {
	ctx, stop := context.WithTimeout(ctx, saveTime)
	defer stop()
	if _, err := o.store.SaveSetting(ctx, "", ownerSetting+login, id); err != nil {
		o.log.Warn("the account of an owner can't be kept across a restart", "login", login, "error", err)
	}
}
