package web

import (
	"net/http"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// revertWanted is what a way back is asked for with.
type revertWanted struct {
	Revision *int `json:"revision"` // to go back to; 0 for the configuration's policy
}

// revertPolicy is POST /channels/{channel}/policy/revert: {"revision": N} puts the policy of an earlier revision in force again, as a new one; 0 the
// configuration's. It answers as PUT does.
func (s *Server) revertPolicy(w http.ResponseWriter, r *http.Request, who caller) error {
	channel, err := s.channelOf(r)
	if err != nil {
		return err
	}
	if err := needsMatch(r); err != nil {
		return err
	}
	var in revertWanted
	if err := readJSON(w, r, &in); err != nil {
		return err
	}
	if in.Revision == nil {
		return refuse(http.StatusBadRequest, "Send the number of the revision to go back to.")
	}
	if *in.Revision == 0 {
		return s.discard(w, r, channel, who)
	}
	revisions, err := s.revisionsOf(r.Context(), channel)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(revisions, func(r journal.Revision) bool { return r.Number == *in.Revision })
	switch {
	case i < 0:
		return refuse(http.StatusNotFound, "There is no revision %d of these limits.", *in.Revision)
	case isDiscarded(revisions[i]):
		return s.discard(w, r, channel, who)
	}
	return s.revise(w, r, channel, func() chatguard.Policy { return revisions[i].Policy }, s.keepPolicy(channel, who.name))
}
