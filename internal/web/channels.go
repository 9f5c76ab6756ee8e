package web

import (
	"net/http"
	"slices"

	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/check"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// channels finds the channels that requests name.
type channels struct {
	model   *live.Model
	checker *check.Checker
}

// pathID returns the ID of the channel in the request's path.
func (c channels) pathID(r *http.Request) (string, error) {
	found, err := c.find(r.PathValue("channel"))
	return found.ID, err
}

// handler returns a handler that calls handle with the channel in the request's path.
func (c channels) handler(handle func(w http.ResponseWriter, r *http.Request, who access.Caller, channelID string) error) access.Handler {
	return func(w http.ResponseWriter, r *http.Request, who access.Caller) error {
		id, err := c.pathID(r)
		if err != nil {
			return err
		}
		return handle(w, r, who, id)
	}
}

// find returns the channel with an ID. It also finds an unlisted channel that servers have asked
// about.
func (c channels) find(id string) (live.Channel, error) {
	all := c.model.Channels()
	if i := slices.IndexFunc(all, func(one live.Channel) bool { return one.ID == id }); i >= 0 {
		return all[i], nil
	}
	if c.checker.Has(id) {
		return live.Channel{ID: id, Login: c.checker.NameOf(id)}, nil
	}
	return live.Channel{}, errNoChannel(id)
}

func errNoChannel(id string) error {
	return problem.New(http.StatusNotFound, "There is no channel with the ID %s here.", problem.Quote(id))
}
