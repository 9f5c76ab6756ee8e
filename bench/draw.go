package main

import (
	"math/rand/v2"
	"strconv"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/bench/internal/sequence"
)

// draw is one drawn message: its user and roles.
type draw struct {
	id    string
	roles chatguard.Roles
}

// layout says how the IDs of a sequence are laid out in memory.
type layout string

const (
	// stream places the IDs one after another in message order, as a connection delivers them.
	stream    layout = "stream"
	scattered layout = "scattered" // one string per user, at random addresses
)

func (l layout) meaning() string {
	if l == scattered {
		return "one string per user in a random place"
	}
	return "the bytes of one message's ID after those of the message before"
}

// newDraws draws n messages of the crowd. Roles belong to the message, not to the user. Otherwise
// one moderator among the most active users of a Zipf sequence would write a tenth of it.
func newDraws(n int, crowd []uint64, how sequence.Spread, lie layout) []draw {
	rng := sequence.Rand(1)
	order := sequence.Order(rng, n, len(crowd), how)
	ids := contiguousIDs(crowd, order)
	if lie == scattered {
		ids = scatteredIDs(crowd, order)
	}
	draws := make([]draw, n)
	for i, id := range ids {
		draws[i] = draw{id, drawRoles(rng)}
	}
	return draws
}

var moderator, subscriber = chatguard.Roles{chatguard.RoleModerator}, chatguard.Roles{"subscriber"}

// drawRoles returns no roles most of the time, sometimes a subscriber's, and in 1 of 100 cases a
// moderator's.
func drawRoles(rng *rand.Rand) chatguard.Roles {
	switch p := rng.IntN(100); {
	case p < 1:
		return moderator
	case p < 16:
		return subscriber
	}
	return nil
}

func contiguousIDs(crowd []uint64, order []int) []string {
	var line []byte
	ends := make([]int, len(order))
	for i, user := range order {
		line = strconv.AppendUint(line, crowd[user], 10)
		ends[i] = len(line)
	}
	all, start := string(line), 0
	ids := make([]string, len(order))
	for i, end := range ends {
		ids[i], start = all[start:end], end
	}
	return ids
}

func scatteredIDs(crowd []uint64, order []int) []string {
	own := make([]string, len(crowd))
	for _, user := range sequence.Rand(1).Perm(len(crowd)) {
		own[user] = strconv.FormatUint(crowd[user], 10)
	}
	ids := make([]string, len(order))
	for i, user := range order {
		ids[i] = own[user]
	}
	return ids
}
