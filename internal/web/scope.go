package web

import (
	"net/http"
	"strconv"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// ofCaller is the scope of routes that neither show nor change channels that are invisible to the
// caller.
func ofCaller(_ *http.Request, who auth.Identity) (auth.Access, error) { return who.Access, nil }

// ofPath is the scope of routes with a channel in their path.
func ofPath(r *http.Request, who auth.Identity) (auth.Access, error) {
	return accessIn(who, r.PathValue("channel"))
}

// ofQuery is the scope of routes with a parameter "channel". People whose access depends on the
// channel must send it.
func ofQuery(r *http.Request, who auth.Identity) (auth.Access, error) {
	channel := r.URL.Query().Get("channel")
	if channel == "" && who.Channels != nil {
		return auth.Any, problem.New(http.StatusUnprocessableEntity, "Add the parameter channel: your access depends on the channel.")
	}
	return accessIn(who, channel)
}

// ofEntry is the scope of routes with an entry of the journal in their path.
func (h *archive) ofEntry(r *http.Request, who auth.Identity) (auth.Access, error) {
	if who.Channels == nil {
		return who.Access, nil
	}
	id, _ := strconv.ParseInt(r.PathValue("entry"), 10, 64) // 0 is the ID of no entry
	entries, err := h.store.Entries(r.Context(), journal.EntryFilter{IDs: []chatguard.EntryID{chatguard.EntryID(id)}, N: 1})
	if err != nil {
		return auth.Any, errUnreadable("The journal can't be read now", err)
	}
	if len(entries) == 0 || who.In(entries[0].ChannelID) == auth.Any {
		return auth.Any, errControls(control.ErrNoEntry)
	}
	return who.In(entries[0].ChannelID), nil
}

// accessIn returns what a person may do in a channel. The problem for an invisible channel is the
// same as for one that doesn't exist.
func accessIn(who auth.Identity, channelID string) (auth.Access, error) {
	granted := who.In(channelID)
	if granted == auth.Any {
		return auth.Any, errNoChannel(channelID)
	}
	return granted, nil
}
