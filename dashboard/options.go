package dashboard

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/sqlitestore"
)

// Role is what somebody may do in a Dashboard. The zero value is none.
type Role string

// The roles. Each may do what the one before it may.
const (
	View     Role = "view"     // see everything, change nothing
	Moderate Role = "moderate" // change limits, users and switches
	Own      Role = "own"      // everything; today that is what Moderate may
)

// Channel is a chat that a Dashboard shows.
type Channel struct {
	ID   string // as in Message.ChannelID
	Name string // what people call it, shown as "#name"; empty means the ID
}

// Options say what a Dashboard shows and to whom. Only Authorize is required.
type Options struct {
	// Authorize says who sends a request, from the server's own cookie or header: a name, which the audit keeps with what they change, and what they may
	// do. ok is false for who may not come in. It is asked with every request, before anything of the Guard is told, and for an open page again each second about
	// the request that this began with: who may come in no longer is out within 5 s, or as soon as an answer comes. The request's path is the one below
	// the Dashboard's. It must be quick and safe for concurrent use; Run waits at its end for what it has to say. Somebody without a name, or with an
	// unknown role, isn't let in, and the log says so once for each role. One name may have 20 pages open: give each person one of their own.
	//
	// Before it is asked, the page itself is told, which shows nothing then, /healthz and /api/v1/openapi.json.
	//
	// Don't go by the address alone: a browser on that machine sends requests for other sites' pages as well.
	Authorize func(*http.Request) (name string, role Role, ok bool)

	// Store keeps what happens and what people change, once it is restored with the Guard. Nil means that this is kept in memory until the process
	// ends, and the page says so: who spoke when for 48 hours, at about 100 bytes a message, and throttled messages for 24 hours, with up to 2,000 bytes
	// of their text. Where both take more than 128 MiB, the oldest go.
	Store *sqlitestore.Store

	// Channels returns the channels to show, the first one being shown first. It is asked often, by requests and in Run's goroutine: it must not block or
	// panic, and must be safe for concurrent use.
	// Nil means those in which somebody has written since the day before the start, as far as that is known, or people had changed something; a thousand
	// at most, in the order of their IDs.
	Channels func() []Channel

	// PublicURL is the address that people use ("https://chat.example.org/moderate/"). It is needed where a proxy asks the server for another host than
	// that: news only goes to pages of the host that a request is for or of this one, and changes are only taken from those. Without it the page gets no
	// news there, and the log says so. Else it can stay empty.
	PublicURL string

	Logger *slog.Logger // nil means slog.Default()
}

// check returns the public address, and what is wrong with the Options.
func (o *Options) check() (public *url.URL, err error) {
	switch {
	case o.Authorize == nil:
		return nil, errors.New("dashboard: Options.Authorize is missing: say who may come in")
	case o.PublicURL == "":
		return nil, nil
	}
	public, err = url.Parse(o.PublicURL)
	if err != nil || public.Hostname() == "" || public.Scheme != "http" && public.Scheme != "https" {
		return nil, fmt.Errorf(`dashboard: Options.PublicURL is %q: want an address such as "https://chat.example.org/moderate/", or nothing`, o.PublicURL)
	}
	public.Host = asInOrigins(public)
	return public, nil
}

// asInOrigins is the host of an address as browsers name it in the header Origin.
func asInOrigins(address *url.URL) string {
	host := strings.ToLower(address.Host)
	port := map[string]string{"http": "80", "https": "443"}[address.Scheme]
	return strings.TrimSuffix(strings.TrimSuffix(host, ":"+port), ":")
}

// holder is whom Authorize lets in.
func (d *Dashboard) holder(r *http.Request) (who journal.Holder, ok bool) {
	name, role, ok := d.options.Authorize(r)
	if !ok {
		return who, false
	}
	switch role {
	case View, Moderate, Own:
	default:
		d.complain("dashboard: Authorize lets somebody in with a role that there isn't: they stay outside", name, role)
		return who, false
	}
	if name == "" {
		d.complain("dashboard: Authorize lets somebody in without a name: they stay outside", name, role)
		return who, false
	}
	return journal.Holder{Name: name, Access: journal.Access(role)}, true
}

// complain logs what is wrong with somebody whom Authorize lets in, once for each role: their requests come again and again.
func (d *Dashboard) complain(problem, name string, role Role) {
	if _, already := d.complained.LoadOrStore(role, true); !already {
		d.options.Logger.Error(problem, "name", name, "role", role)
	}
}
