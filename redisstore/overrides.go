package redisstore

import (
	"context"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// mostPruned is how many users Overrides removes at most from a set.
const mostPruned = 1000

// pruneScript removes a user from a set if the user's row is as expected; an empty row means none.
const pruneScript = `if (redis.call('GET', KEYS[1]) or '') == ARGV[1] then redis.call('SREM', KEYS[2], ARGV[2]) end`

// Overrides implements [shared.Store]. It removes users without an override from the set, so that a
// later call doesn't return them, except on a Cluster.
func (s *Store) Overrides(ctx context.Context, channelID string) ([]string, error) {
	ctx, cancel := withTimeout(ctx, s.server.options.listTimeout())
	defer cancel()
	users, err := s.server.members(ctx, s.server.keys.own(channelID))
	if err != nil {
		return nil, err
	}
	if s.server.address.kind != cluster {
		if err := s.prune(ctx, channelID, users); err != nil {
			s.server.options.Logger.Debug("redisstore: the set of users with an override wasn't checked", "channel", channelID, "problem", withoutPrefix(err))
		}
	}
	return users, nil
}

// prune removes the users whose row has nothing that was given by hand from the set of a channel. A
// swap that stores an override adds the user in the same script. So it comes either before prune,
// which then finds another row, or afterwards.
func (s *Store) prune(ctx context.Context, channelID string, users []string) error {
	key := func(user string) string { return s.server.keys.row(&shared.Row{ChannelID: channelID, UserID: user}) }
	rows, err := s.server.readAll(ctx, users, key)
	if err != nil {
		return err
	}
	var prunes []build
	for i, row := range rows {
		if givesNothing(row) && len(prunes) < mostPruned {
			prunes = append(prunes, func(b builder) command {
				return b.Eval().Script(pruneScript).Numkeys(2).Key(key(users[i]), s.server.keys.own(channelID)).Arg(row, users[i]).Build()
			})
		}
	}
	if len(prunes) == 0 {
		return nil
	}
	_, err = s.server.ask(ctx, prunes...)
	return err
}

// givesNothing reports whether a row certainly has no override: there is no row, or nothing in it
// was given by hand. A row that can't be read may be from a later version.
func givesNothing(row string) bool {
	if row == "" {
		return true
	}
	text, err := limits.DescribeRow([]byte(row))
	return err == nil && (len(text.Given) == 0 || string(text.Given) == "{}")
}
