package persist

import (
	"context"
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
