package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// BotLogin logs the bot's account in on Twitch, one login at a time. Its methods must be safe for
// concurrent use.
type BotLogin interface {
	// Begin starts a login. The client ID is that of the owner's Twitch application; empty means
	// the known one. author is the name of the person who starts it. The error is a LoginError, or
	// ErrLoginRuns.
	Begin(ctx context.Context, clientID, author string) (Login, error)
	// Login returns the state of the latest login of this process.
	Login() Login
	// Cancel ends a login in progress. An earlier login stays valid.
	Cancel()
}

// LoginState is the state of a login.
type LoginState string

// The states of a login.
const (
	LoginNone    LoginState = "none"    // nobody has started one
	LoginWaiting LoginState = "waiting" // for a person to enter the code on Twitch
	LoginDone    LoginState = "done"
	LoginFailed  LoginState = "failed"
)

// Login describes the latest login of the bot's account. It contains no token.
type Login struct {
	State LoginState `json:"state"`
	// UserCode is the code to compare on Twitch, and Address the page that asks for it.
	UserCode string    `json:"user_code,omitempty"`
	Address  string    `json:"address,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	// QR leads a phone to the address.
	QR *QR `json:"qr,omitempty"`
	// Account is the login of the account that is logged in now; Replaced is the previous one, if
	// it was different.
	Account  string `json:"account,omitempty"`
	Replaced string `json:"replaced,omitempty"`
	// Problem is one line for people: why the login failed, or what is left to do after it.
	Problem string `json:"problem,omitempty"`
	// NeedsClientID means that the next login needs the ID of a Twitch application.
	NeedsClientID bool `json:"needs_client_id,omitempty"`
	// Console is the page on which Twitch registers applications.
	Console string `json:"console,omitempty"`
}

// QR is a QR code.
type QR struct {
	Size int `json:"size"` // modules in a row, with the quiet zone
	// Path is the data of an SVG path that fills the dark modules, in units of a module.
	Path string `json:"path"`
}

// ErrLoginRuns is the error for a second login at the same time.
var ErrLoginRuns = errors.New("a login is already in progress: finish it, or cancel it first")

// LoginError says in one line for people why a login can't begin.
type LoginError struct {
	Text     string
	ClientID bool // another client ID would help
	Cause    error
}

func (e *LoginError) Error() string { return e.Text }
func (e *LoginError) Unwrap() error { return e.Cause }

// logins answers requests about the login of the bot's account.
type logins struct {
	bot BotLogin // nil if there is no bot on Twitch
}

// loginWanted is the body of POST /login.
type loginWanted struct {
	ClientID string `json:"client_id,omitempty"`
}

// maxClientID is the maximum length of a client ID, in bytes.
const maxClientID = 100

// begin is POST /login.
func (h *logins) begin(w http.ResponseWriter, r *http.Request, who access.Caller) error {
	var wanted loginWanted
	if r.ContentLength != 0 {
		if err := problem.ReadJSON(w, r, &wanted); err != nil {
			return err
		}
	}
	if len(wanted.ClientID) > maxClientID {
		return problem.New(http.StatusUnprocessableEntity, "A client ID has at most %d characters. Copy it again.", maxClientID)
	}
	login, err := h.bot.Begin(r.Context(), wanted.ClientID, who.Author())
	if err != nil {
		return errLogin(err)
	}
	return problem.WriteJSON(w, login)
}

// get is GET /login.
func (h *logins) get(w http.ResponseWriter, _ *http.Request, _ access.Caller) error {
	return problem.WriteJSON(w, h.bot.Login())
}

// cancel is DELETE /login.
func (h *logins) cancel(w http.ResponseWriter, _ *http.Request, _ access.Caller) error {
	h.bot.Cancel()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// errLogin returns the problem for a login that can't begin.
func errLogin(err error) error {
	var cant *LoginError
	switch {
	case errors.Is(err, ErrLoginRuns):
		return problem.New(http.StatusConflict, "A login is already in progress. Finish it, or cancel it first.")
	case !errors.As(err, &cant):
		return err
	case cant.ClientID:
		return problem.New(http.StatusUnprocessableEntity, "%s", cant.Text)
	}
	return problem.New(http.StatusServiceUnavailable, "%s", cant.Text).Because(err)
}
