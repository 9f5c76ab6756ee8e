package persist

import (
	"context"
	"database/sql"
	"errors"

	"github.com/chatguard/chatguard/internal/journal"
)

// ReadPolicies returns what CurrentRevisions and Channels return of the database at path, beside the process that owns it or without one. The error
// names the file and the mend.
func ReadPolicies(ctx context.Context, path string) (current []journal.Revision, logins map[string]string, err error) {
	tokens, err := OpenTokens(ctx, path, nil)
	if err != nil {
		return nil, nil, err
	}
	beside := &Store{Tokens: tokens}
	if current, err = beside.CurrentRevisions(ctx); err == nil {
		logins, err = beside.Channels(ctx)
	}
	return current, logins, errors.Join(err, tokens.Close())
}

// DiscardPolicy goes back to the configuration's policy of a channel as DiscardRevisions does, in the database at path, which nobody may own.
func DiscardPolicy(ctx context.Context, path, channelID, author string, opts *Options) (numbered journal.Revision, err error) {
	s, err := Open(ctx, path, opts)
	if err != nil {
		return numbered, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if numbered, err = s.addDiscard(channelID, author); err != nil {
		return numbered, err
	}
	return numbered, s.db.write(ctx, func(tx *sql.Tx) error { return writeChanges(ctx, tx, s.changes.look()) })
}
