package dashboard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/shared"
)

// Role is what a person may do in a Dashboard. The zero value allows nothing.
type Role string

// The roles. Each role includes the rights of the role before it.
const (
	View     Role = "view"     // see everything, change nothing
	Help     Role = "help"     // pardon, grant, exempt and reset users, and write notes
	Moderate Role = "moderate" // change limits, overrides and switches
	Own      Role = "own"      // everything
)

// Channel is a channel that a Dashboard shows.
type Channel struct {
	ID   string // as in Message.ChannelID
	Name string // display name, as "#name"; empty means the ID
}

// Store keeps what a Dashboard shows and what people change in it. A *sqlitestore.Store is one, and
// so is a type that embeds a *sqlitestore.Store, for example to measure its Run. New refuses any
// other type. A program with another database keeps the Guard's state there by itself, see
// [chatguard.Guard.State], and gives the Dashboard no Store.
type Store interface {
	// Run writes until ctx ends, then writes everything pending once more and returns. The error
	// says what is lost. The Dashboard's Run calls it in a goroutine.
	Run(ctx context.Context) error
}

// Options configure what a Dashboard shows and to whom. Only Authorize is required.
type Options struct {
	// Authorize identifies the sender of a request from the server's own cookie or header. It
	// returns the person's name and role. The audit log records the name with each change. ok is
	// false if the person has no access.
	//
	// Authorize is called for every request, before anything about the Guard is sent. While a page
	// is open, Authorize is called again each second with the request that opened the page. A
	// person who loses access is disconnected within 5 s, or as soon as Authorize returns. The
	// request's path is relative to the Dashboard's. Authorize must be quick and safe for
	// concurrent use; before Run returns, it waits for pending calls.
	//
	// A person without a name, or with an unknown role, has no access. The Dashboard logs this once
	// for each role. Each name can have at most 20 open pages, so give each person a different
	// name.
	//
	// Authorize is not called for /healthz, /api/v1/openapi.json and the page itself. The page
	// contains no data until its requests are authorized.
	//
	// Don't decide by the sender's address alone: a browser on a trusted machine also sends
	// requests for other sites' pages.
	Authorize func(*http.Request) (name string, role Role, ok bool)

	// Store keeps events and people's changes; open it with the same Guard. The Dashboard's Run
	// runs the Store, which must stay open until that Run has returned. If Store is nil, the
	// Dashboard keeps events and changes in memory until the process ends, and the page says so. In
	// memory, it keeps the author and time of each message for 48 hours, in about 100 bytes per
	// message. It keeps throttled messages for 24 hours, with up to 2,000 bytes of their text. If
	// both together take more than 128 MiB, it drops the oldest.
	Store Store

	// Channels returns the channels to show; the first one is shown first. It is called often, by
	// requests and in Run's goroutine. It must not block or panic, and must be safe for concurrent
	// use. If Channels is nil, the Dashboard shows two kinds of channels: those that people have
	// changed, and those with a known message since one day before the start. It then shows at most
	// a thousand channels, sorted by ID.
	Channels func() []Channel

	// SharedHealth returns the state of the store that the Guard shares with other nodes, such as
	// redisstore's Store.Health. The page then shows whether the store answers, and what this node
	// did without it. SharedHealth is called each second, and must not wait. Nil means that the
	// page shows nothing about the store.
	SharedHealth func() shared.Health

	// Nodes returns all nodes that share limits, with this one, in the order in which they are
	// shown, such as redisstore's Store.Nodes. It is called at most once per second, and only while
	// somebody looks at the nodes. It may ask the store until ctx ends. Nil means that the nodes
	// aren't shown. Nodes needs SharedHealth.
	Nodes func(ctx context.Context) ([]shared.Node, error)

	// PublicURL is the address that people use ("https://chat.example.org/moderate/"). Set it if a
	// proxy changes the host of the requests that it forwards; otherwise it can stay empty. Only
	// pages of the request's own host or of PublicURL's host can receive live updates and make
	// changes. Without PublicURL, a page behind such a proxy gets no live updates, and the log says
	// so.
	PublicURL string

	Logger *slog.Logger // nil means slog.Default()
}

// check returns the parsed public address, or the first error in the Options.
func (o *Options) check(guard *chatguard.Guard) (public *url.URL, err error) {
	switch {
	case o.Authorize == nil:
		return nil, errors.New("dashboard: Options.Authorize is missing: set it to decide who has access")
	case o.SharedHealth != nil && guard.Shared().Mode() == "":
		return nil, errors.New("dashboard: Options.SharedHealth needs a Guard that shares limits: set chatguard.Options.Shared")
	case o.Nodes != nil && o.SharedHealth == nil:
		return nil, errors.New("dashboard: Options.Nodes needs Options.SharedHealth: return the state of the shared store, for example with redisstore's Store.Health")
	case o.PublicURL == "":
		return nil, nil
	}
	public, err = url.Parse(o.PublicURL)
	if err != nil || public.Hostname() == "" || public.Scheme != "http" && public.Scheme != "https" {
		return nil, fmt.Errorf(`dashboard: Options.PublicURL is %q: want an address such as "https://chat.example.org/moderate/", or nothing`, o.PublicURL)
	}
	public.Host = originHost(public)
	return public, nil
}

// originHost returns the host of an address in the form that browsers send in the Origin header.
func originHost(address *url.URL) string {
	host := strings.ToLower(address.Host)
	port := map[string]string{"http": "80", "https": "443"}[address.Scheme]
	return strings.TrimSuffix(strings.TrimSuffix(host, ":"+port), ":")
}

// holder returns the person to whom Authorize grants access.
func (d *Dashboard) holder(r *http.Request) (who auth.Identity, ok bool) {
	name, role, ok := d.options.Authorize(r)
	if !ok {
		return who, false
	}
	switch role {
	case View, Help, Moderate, Own:
	default:
		d.logProblem("dashboard: Authorize accepts a request with a role that doesn't exist: access denied", name, role)
		return who, false
	}
	if name == "" {
		d.logProblem("dashboard: Authorize accepts a request without a name: access denied", name, role)
		return who, false
	}
	return auth.Identity{Name: name, Access: auth.Access(role), From: auth.FromSite}, true
}

// logProblem logs a problem with a person to whom Authorize grants access. It logs once for each
// role, because such a person keeps sending requests.
func (d *Dashboard) logProblem(problem, name string, role Role) {
	if _, already := d.complained.LoadOrStore(role, true); !already {
		d.options.Logger.Error(problem, "name", name, "role", role)
	}
}
