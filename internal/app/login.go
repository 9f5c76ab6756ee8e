package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/host"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web"
)

// botLogin logs the bot's account in by device code, for the dashboard. The running bot uses the
// new token at once. It is safe for concurrent use.
type botLogin struct {
	bot     *twitchbot.Connection
	tokens  *token.Store // of bot
	path    string       // of the configuration; empty if there is none
	host    *host.Host
	guard   *chatguard.Guard
	names   *directory
	pages   Pages
	since   time.Time // the start of chatguard
	log     *slog.Logger
	running sync.WaitGroup // logins in progress

	mu sync.Mutex
	// ended means that no further login may begin. ended and the fields below are guarded by mu.
	ended   bool
	latest  web.Login
	waiting *attempt // nil if no login is in progress
}

// attempt is a login in progress.
type attempt struct {
	device *token.DeviceLogin
	code   token.DeviceCode
	author string
	cancel context.CancelFunc
}

// newBotLogin returns the botLogin of an App, or nil if the App has no account on Twitch.
func newBotLogin(a *App) *botLogin {
	if a.Twitch.Tokens() == nil {
		return nil
	}
	return &botLogin{
		bot: a.Twitch, tokens: a.Twitch.Tokens(), path: a.Config.Path, host: a.Host, guard: a.Guard, names: a.directory, pages: a.options.Pages, since: a.began, log: a.log,
		latest: web.Login{State: web.LoginNone},
	}
}

// run waits until the context ends, then ends a login in progress.
func (l *botLogin) run(ctx context.Context) error {
	<-ctx.Done()
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.Cancel()
	l.running.Wait()
	return nil
}

// Begin implements web.BotLogin.
func (l *botLogin) Begin(ctx context.Context, clientID, author string) (web.Login, error) {
	waiting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := &attempt{author: author, cancel: cancel}
	if !l.enter(a) {
		cancel()
		return web.Login{}, web.ErrLoginRuns
	}
	login, err := l.begin(ctx, a, clientID)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil || l.waiting != a: // failed, or canceled meanwhile
		cancel()
		l.leave(a, l.latest)
		return l.latest, err
	}
	l.latest = login
	l.running.Go(func() {
		defer cancel()
		l.finish(waiting, a)
	})
	return login, nil
}

// enter makes an attempt the login in progress. It returns false if there is another one.
func (l *botLogin) enter(a *attempt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting != nil || l.ended {
		return false
	}
	l.waiting, l.latest = a, web.Login{State: web.LoginNone}
	return true
}

// leave records how an attempt ended, unless it was canceled before. The caller holds mu.
func (l *botLogin) leave(a *attempt, ended web.Login) {
	if l.waiting == a {
		l.waiting, l.latest = nil, ended
	}
}

// begin gets a code from Twitch.
func (l *botLogin) begin(ctx context.Context, a *attempt, clientID string) (web.Login, error) {
	configured := l.names.config().Twitch.ClientID
	a.device = &token.DeviceLogin{Application: token.Application{AuthURL: l.tokens.AuthURL, ClientID: cmp.Or(clientID, configured), HTTP: l.tokens.HTTP, Clock: l.tokens.Clock}}
	if err := config.CheckClientID(a.device.ClientID); err != nil {
		return web.Login{}, &web.LoginError{Text: "Enter the client ID of your Twitch application. It consists of letters and digits only, usually 30.", ClientID: true}
	}
	err := l.tokens.CanStore(ctx)
	if err != nil {
		return web.Login{}, &web.LoginError{Text: journal.Sentence(err), Cause: err}
	}
	if a.code, err = a.device.Begin(ctx); err != nil {
		return web.Login{}, beginError(err)
	}
	note := ""
	if a.device.ClientID != configured {
		note = l.keepClientID(a.device.ClientID)
	}
	return web.Login{
		State: web.LoginWaiting, UserCode: a.code.UserCode, Address: a.code.Address, Expires: a.code.Expires, QR: qrOf(a.code.Address), Problem: note,
	}, nil
}

// beginError returns an error that tells people why a login can't begin: Twitch refused it, or
// didn't answer.
func beginError(err error) error {
	if errors.Is(err, token.ErrClientID) {
		return &web.LoginError{Text: "Twitch knows no application with this client ID. Copy it again from the Twitch developer console.", ClientID: true, Cause: err}
	}
	if errors.Is(err, twitch.ErrUnavailable) {
		return &web.LoginError{Text: "Twitch does not answer. Try again in a minute.", Cause: err}
	}
	return &web.LoginError{Text: "Twitch refuses the login: " + hostile.Detail(err.Error()) + ".", Cause: err}
}

// keepClientID writes the client ID to the configuration. If that isn't possible, it returns a note
// for people.
func (l *botLogin) keepClientID(id string) (note string) {
	if l.path == "" {
		return ""
	}
	if err := SaveClientID(l.path, id); err != nil {
		l.log.Warn("the client ID can't be written to the configuration", "file", l.path, "error", err)
		return fmt.Sprintf("The configuration can't be changed from here: write client_id = %q into the table [twitch].", id)
	}
	changed := *l.names.config()
	changed.Twitch.ClientID = id
	l.names.loaded.Store(&changed)
	l.tokens.UseClientID(id)
	return ""
}

// finish waits for the person on Twitch, and gives the running bot its token.
func (l *botLogin) finish(ctx context.Context, a *attempt) {
	pair, err := a.device.Wait(ctx, a.code)
	if ctx.Err() != nil {
		return // canceled
	}
	before := l.tokens.Status().Identity.Login
	ended := web.Login{State: web.LoginFailed}
	if err == nil {
		var id token.Identity
		id, err = l.tokens.Adopt(ctx, pair)
		ended = web.Login{State: web.LoginDone, Account: id.Login, Problem: missingScopes(l.tokens.Transport, id.Scopes)}
		if before != id.Login {
			ended.Replaced = before
		}
	}
	if err != nil {
		ended = web.Login{State: web.LoginFailed, Problem: endError(err)}
		l.log.Warn("a login from the dashboard has failed", "author", a.author, "error", err)
	} else {
		l.record(ctx, a.author, ended.Account)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(a, ended)
}

// endError returns why a login failed, and what to do, in one line for people.
func endError(err error) string {
	switch {
	case errors.Is(err, token.ErrDenied):
		return "The login was denied on Twitch. Try again, signed in there as the bot's account."
	case errors.Is(err, token.ErrCodeExpired):
		return "Nobody entered the code in time. Get a new code."
	case errors.Is(err, twitch.ErrUnavailable):
		return "The login succeeded, but Twitch does not say whose account it is. It is used once Twitch answers."
	}
	return "The login failed: " + hostile.Detail(err.Error()) + ". Try again."
}

// missingScopes returns what to do about scopes that Twitch did not grant, or "".
func missingScopes(transport string, granted []string) string {
	missing := token.MissingScopes(transport, granted)
	if len(missing) == 0 {
		return ""
	}
	return "Twitch did not grant everything that chatguard needs (" + strings.Join(missing, ", ") + "). Connect again and authorize all of it."
}

// record adds the login to the audit of each channel.
func (l *botLogin) record(ctx context.Context, author, account string) {
	for _, id := range l.names.ids() {
		_, err := l.host.Store.Record(ctx, journal.Audit{
			At: l.guard.Now().UTC(), Author: author, Action: journal.BotConnected, ChannelID: id, Detail: journal.LoginDetail{Account: account},
		})
		if err != nil {
			l.log.Error("a login can't be recorded in the audit", "channel", id, "error", err)
		}
	}
}

// Login implements web.BotLogin.
func (l *botLogin) Login() web.Login {
	l.mu.Lock()
	defer l.mu.Unlock()
	shown := l.latest
	shown.NeedsClientID = l.names.config().Twitch.ClientID == ""
	shown.Console = l.pages.Console
	return shown
}

// Cancel implements web.BotLogin.
func (l *botLogin) Cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting != nil {
		l.waiting.cancel()
		l.waiting, l.latest = nil, web.Login{State: web.LoginNone}
	}
}
