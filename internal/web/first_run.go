package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// FirstRunOptions configure a FirstRun. All fields are required.
type FirstRunOptions struct {
	Site      access.Site // only this machine may reach it
	Sessions  access.Sessions
	WrongCode error // the error of Sessions for an invalid code
	// Create writes the configuration and prepares the dashboard that follows. It returns a code
	// that signs in there once. An AnswerError means that the person can correct something.
	Create  func(ctx context.Context, a Answers) (code string, err error)
	Console string // page on which Twitch registers applications
	Log     *slog.Logger
}

// Answers are what a person enters on the setup page.
type Answers struct {
	Channel  string `json:"channel"`  // login of the channel, or its address
	Timezone string `json:"timezone"` // IANA name
	ClientID string `json:"client_id,omitempty"`
}

// AnswerError says in one line for people why the configuration can't be created from the answers.
type AnswerError struct{ Text string }

func (e *AnswerError) Error() string { return e.Text }

// FirstRun serves the setup page, with which a person writes the first configuration. Only the
// holder of a session can use it. Create one with NewFirstRun.
type FirstRun struct {
	opts    FirstRunOptions
	handler http.Handler

	creating sync.Mutex         // held while the configuration is created
	exists   context.Context    // ends once the configuration exists
	created  context.CancelFunc // ends exists
}

// NewFirstRun returns a FirstRun that doesn't listen yet.
func NewFirstRun(opts FirstRunOptions) (*FirstRun, error) {
	f := &FirstRun{opts: opts}
	f.exists, f.created = context.WithCancel(context.Background())
	guard, err := access.New(access.Options{
		Site: opts.Site, Sessions: firstSessions{opts.Sessions, opts.WrongCode}, WrongCode: opts.WrongCode, Now: time.Now, Log: opts.Log,
	})
	if err != nil {
		return nil, err
	}
	files, err := newFiles()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", problem.HandlerFunc(opts.Log, files.serve))
	for pattern, h := range map[string]problem.Handler{
		"POST /session":      guard.SignIn,
		"GET /sign-in":       getNoWays,
		"GET /session":       guard.Require(auth.Own, access.Installation, f.getSession),
		"GET /channels":      guard.Require(auth.Own, access.Installation, f.getChannels),
		"PUT /configuration": guard.Require(auth.Own, access.Installation, f.putConfiguration),
		"GET /":              func(http.ResponseWriter, *http.Request) error { return errNotFound() },
	} {
		mux.HandleFunc(addPrefix(pattern), problem.HandlerFunc(opts.Log, h))
	}
	f.handler, err = guard.Protect(problem.HandlerFunc(opts.Log, f.untilCreated(mux)))
	return f, err
}

// firstSessions replaces the error for an invalid code. There is no configuration yet, so the usual
// advice, `chatguard signin`, can't help.
type firstSessions struct {
	access.Sessions
	wrongCode error
}

// RedeemCode implements access.Sessions.
func (s firstSessions) RedeemCode(ctx context.Context, code string) (session string, who auth.Identity, err error) {
	session, who, err = s.Sessions.RedeemCode(ctx, code)
	if errors.Is(err, s.wrongCode) {
		err = problem.New(http.StatusUnauthorized, "This link has been used or is too old. Start chatguard again: it prints a new one.")
	}
	return session, who, err
}

// untilCreated refuses requests once the configuration exists: the dashboard is about to answer
// them.
func (f *FirstRun) untilCreated(next http.Handler) problem.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		select {
		case <-f.exists.Done():
			w.Header().Set("Connection", "close")
			return problem.New(http.StatusServiceUnavailable, "chatguard is starting. Try again in a second.").After(time.Second)
		default:
			next.ServeHTTP(w, r)
			return nil
		}
	}
}

// firstSession describes the signed-in person and says that there is no configuration yet.
type firstSession struct {
	auth.Identity
	FirstRun firstPage `json:"first_run"`
}

// firstPage is what the setup page needs to know.
type firstPage struct {
	Console string `json:"console"`
}

// getSession is GET /session.
func (f *FirstRun) getSession(w http.ResponseWriter, _ *http.Request, who access.Caller) error {
	return problem.WriteJSON(w, firstSession{who.Identity, firstPage{f.opts.Console}})
}

// getChannels is GET /channels: there are none.
func (f *FirstRun) getChannels(w http.ResponseWriter, _ *http.Request, _ access.Caller) error {
	return problem.WriteJSON(w, map[string][]string{"channels": {}})
}

// answered is the answer to PUT /configuration. The code signs in to the dashboard that follows.
type answered struct {
	Code string `json:"code"`
}

// putConfiguration is PUT /configuration. Of several requests at the same time, only one creates
// the configuration.
func (f *FirstRun) putConfiguration(w http.ResponseWriter, r *http.Request, _ access.Caller) error {
	var a Answers
	if err := problem.ReadJSONUpTo(w, r, &a, 4<<10); err != nil {
		return err
	}
	f.creating.Lock()
	defer f.creating.Unlock()
	select {
	case <-f.exists.Done():
		return problem.New(http.StatusConflict, "The configuration exists already.")
	default:
	}
	code, err := f.opts.Create(r.Context(), a)
	var wrong *AnswerError
	switch {
	case errors.As(err, &wrong):
		return problem.New(http.StatusUnprocessableEntity, "%s", wrong.Text)
	case err != nil:
		return err
	}
	f.created()
	w.Header().Set("Connection", "close")
	return problem.WriteJSON(w, answered{Code: code})
}

// Run serves on the listener until the configuration exists or ctx ends. It closes the listener and
// finishes requests in progress.
func (f *FirstRun) Run(ctx context.Context, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(f.exists, stop)()
	return serve(ctx, listener, f.handler, f.opts.Log)
}
