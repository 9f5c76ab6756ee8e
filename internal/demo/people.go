package demo

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/roles"
)

// userKey is a user in a channel, by ID.
type userKey struct{ channelID, userID string }

// person is what moderators know about a user.
type person struct {
	line     faketwitch.Line // the last one
	messages int
	strikes  int
	last     chatguard.Action // last penalty
	lastAt   time.Time        // time of the last penalty
}

type people map[userKey]*person

// note records a message and its verdict.
func (all people) note(user userKey, l faketwitch.Line, v chatguard.Verdict) {
	p := all[user]
	if p == nil {
		p = &person{}
		all[user] = p
	}
	p.line = l
	p.messages++
	if !v.Allowed {
		p.strikes, p.last, p.lastAt = v.Strikes, v.Penalty.Action, v.At
	}
}

// chattiest returns a channel's users by the number of their messages, most first. Staff are left
// out.
func (all people) chattiest(channelID string) []userKey {
	users := slices.Collect(maps.Keys(all))
	users = slices.DeleteFunc(users, func(u userKey) bool { return u.channelID != channelID || roles.Moderate(rolesOfLine(all[u].line)) })
	slices.SortFunc(users, func(a, b userKey) int {
		return cmp.Or(cmp.Compare(all[b].messages, all[a].messages), cmp.Compare(a.userID, b.userID))
	})
	return users
}

// lastDeleted returns the channel's user whose message was deleted last, among the users with at
// most two strikes and no other penalty since.
func (all people) lastDeleted(channelID string) userKey {
	users := slices.DeleteFunc(all.chattiest(channelID), func(u userKey) bool { return all[u].last != chatguard.ActionDelete || all[u].strikes > 2 })
	return slices.MaxFunc(users, func(a, b userKey) int { return all[a].lastAt.Compare(all[b].lastAt) })
}
