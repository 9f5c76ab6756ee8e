package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// scopes says what routes without a channel in their path are about. A route that is missing is
// about the whole installation.
var scopes = map[string]func(*Server) access.Scope{
	"GET /session":    ofCaller,
	"DELETE /session": ofCaller,

	"GET /algorithms": ofCaller, // the same for everyone
	"GET /channels":   ofCaller, // lists the caller's
	"GET /lab":        ofCaller, // lists the caller's channels
	"POST /lab":       ofCaller, // checks the channel whose recordings are asked for

	"GET /status":    ofQuery,
	"GET /overlay":   ofQuery,
	"GET /throttled": ofQuery,
	"GET /rates":     ofQuery,
	"GET /live":      ofQuery,
	"GET /setup":     ofQuery,
	"GET /users":     ofQuery,
	"GET /journal":   ofQuery,
	"GET /audit":     ofQuery,

	"POST /journal/{entry}/pardon": ofPathEntry,

	"GET /webhooks":                                        ofInstallation,
	"POST /webhooks":                                       ofInstallation,
	"PUT /webhooks/{webhook}":                              ofInstallation,
	"DELETE /webhooks/{webhook}":                           ofInstallation,
	"POST /webhooks/{webhook}/test":                        ofInstallation,
	"GET /webhooks/{webhook}/deliveries":                   ofInstallation,
	"DELETE /webhooks/{webhook}/deliveries/{delivery}":     ofInstallation,
	"POST /webhooks/{webhook}/deliveries/{delivery}/retry": ofInstallation,

	"GET /nodes":                 ofInstallation,
	"GET /login":                 ofInstallation,
	"POST /login":                ofInstallation,
	"DELETE /login":              ofInstallation,
	"GET /access":                ofInstallation,
	"POST /tokens":               ofInstallation,
	"DELETE /tokens/{name}":      ofInstallation,
	"POST /links":                ofInstallation,
	"DELETE /links/{link}":       ofInstallation,
	"DELETE /sessions/{session}": ofInstallation,
	"POST /check":                ofInstallation,
	"POST /check/batch":          ofInstallation,
	"POST /check/refund":         ofInstallation,
}

// scopeOf returns the scope of a route.
func (s *Server) scopeOf(pattern string) access.Scope {
	if strings.Contains(pattern, "{channel}") {
		return ofPath(s)
	}
	if scope, ok := scopes[pattern]; ok {
		return scope(s)
	}
	return access.Installation
}

// ofCaller is the scope of routes that show and change nothing of channels that are invisible to
// the caller.
func ofCaller(*Server) access.Scope {
	return func(_ *http.Request, who auth.Identity) (auth.Access, error) { return who.Access, nil }
}

// ofPath is the scope of routes with a channel in their path.
func ofPath(*Server) access.Scope {
	return func(r *http.Request, who auth.Identity) (auth.Access, error) {
		return accessIn(who, r.PathValue("channel"))
	}
}

// ofQuery is the scope of routes with a parameter "channel". People whose access depends on the
// channel must send it.
func ofQuery(*Server) access.Scope {
	return func(r *http.Request, who auth.Identity) (auth.Access, error) {
		channel := r.URL.Query().Get("channel")
		if channel == "" && who.Channels != nil {
			return auth.Any, problem.New(http.StatusUnprocessableEntity, "Add the parameter channel: your access depends on the channel.")
		}
		return accessIn(who, channel)
	}
}

// ofPathEntry is the scope of routes about an entry of the journal.
func ofPathEntry(s *Server) access.Scope {
	return func(r *http.Request, who auth.Identity) (auth.Access, error) {
		if who.Channels == nil {
			return who.Access, nil
		}
		id, _ := strconv.ParseInt(r.PathValue("entry"), 10, 64) // 0 is the ID of no entry
		entries, err := s.opts.Store.Entries(r.Context(), journal.EntryFilter{IDs: []chatguard.EntryID{chatguard.EntryID(id)}, N: 1})
		if err != nil {
			return auth.Any, errUnreadable("The journal can't be read now", err)
		}
		if len(entries) == 0 || who.In(entries[0].ChannelID) == auth.Any {
			return auth.Any, errControls(control.ErrNoEntry)
		}
		return who.In(entries[0].ChannelID), nil
	}
}

// ofInstallation is the scope of routes that are about the whole installation.
func ofInstallation(*Server) access.Scope { return access.Installation }

// accessIn returns what a person may do in a channel. An invisible channel is a problem, as one
// that doesn't exist.
func accessIn(who auth.Identity, channelID string) (auth.Access, error) {
	granted := who.In(channelID)
	if granted == auth.Any {
		return auth.Any, errNoChannel(channelID)
	}
	return granted, nil
}
