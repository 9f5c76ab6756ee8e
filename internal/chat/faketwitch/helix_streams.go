package faketwitch

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// getStreams returns the running streams of channels by ID.
func (s *helixServer) getStreams(c call) reply {
	ids := c.query["user_id"]
	first, err := strconv.Atoi(cmp.Or(c.query.Get("first"), strconv.Itoa(usualPage)))
	switch {
	case len(ids) > maxPage:
		return refusal(http.StatusBadRequest, "The number of user_id query parameters exceeds the limit of 100.")
	case err != nil || first < 1 || first > maxPage:
		return refusal(http.StatusBadRequest, "The value in the first query parameter is not valid.")
	}
	data := []map[string]string{}
	for _, room := range s.channels {
		if slices.Contains(ids, room.id) && !room.liveSince.IsZero() && len(data) < first {
			data = append(data, map[string]string{
				"id": "stream" + room.id, "user_id": room.id, "user_login": room.login, "user_name": room.displayName, "type": "live",
				"started_at": room.liveSince.UTC().Format(time.RFC3339),
			})
		}
	}
	return listReply(data)
}
