package faketwitch

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

// Twitch's page sizes.
const (
	usualPage = 20
	maxPage   = 100
)

// getModeratedChannels lists the channels of others in which the token's user is a moderator, one
// page at a time.
func (s *helixServer) getModeratedChannels(c call) reply {
	first, err := strconv.Atoi(cmp.Or(c.query.Get("first"), strconv.Itoa(usualPage)))
	// the cursor is the index of the page's start
	from, err2 := strconv.Atoi(cmp.Or(c.query.Get("after"), "0"))
	switch {
	case c.query.Get("user_id") != c.user.id:
		return refusal(http.StatusUnauthorized, "The ID in user_id must match the user ID found in the request's OAuth token.")
	case err != nil || first < 1 || first > maxPage:
		return refusal(http.StatusBadRequest, "The value in the first query parameter is not valid.")
	case err2 != nil || from < 0:
		return refusal(http.StatusBadRequest, "The value in the after query parameter is not valid.")
	}
	all := s.moderatedChannels(c.user)
	from = min(from, len(all))
	to := min(from+first, len(all))
	page := map[string]string{}
	if to < len(all) {
		page["cursor"] = strconv.Itoa(to)
	}
	return reply{status: http.StatusOK, body: map[string]any{"data": all[from:to], "pagination": page}}
}

// moderatedChannels returns the channels of others in which an account is a moderator, sorted by
// ID.
func (s *helixServer) moderatedChannels(a account) []map[string]string {
	all := []map[string]string{}
	for _, room := range s.channels {
		if room.id != a.id && s.moderates(a, room) {
			all = append(all, map[string]string{"broadcaster_id": room.id, "broadcaster_login": room.login, "broadcaster_name": room.displayName})
		}
	}
	slices.SortFunc(all, func(a, b map[string]string) int { return cmp.Compare(a["broadcaster_id"], b["broadcaster_id"]) })
	return all
}
