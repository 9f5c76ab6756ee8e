package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrConflict means that somebody else has changed a document since it was read.
var ErrConflict = errors.New("redisstore: the document was changed meanwhile: read it again")

// maxDocument is the maximum length of a document in bytes. A channel's policy is shorter.
const maxDocument = 1 << 20

// Document returns a document that all nodes share, such as a channel's policy, and its revision. A
// document that doesn't exist has revision 0. Document returns an error for one of more than 1 MiB.
func (s *Store) Document(ctx context.Context, name string) (data []byte, revision int64, err error) {
	text, err := s.readDocument(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	return parseDocument(s.server.keys.policy(name), text)
}

func (s *Store) readDocument(ctx context.Context, name string) (string, error) {
	texts, err := s.server.readList(ctx, []string{name}, s.server.keys.policy)
	if err != nil {
		return "", err
	}
	return texts[0], nil
}

// parseDocument splits what is stored under a key: the revision, a space, and the data.
func parseDocument(key, text string) ([]byte, int64, error) {
	if text == "" {
		return nil, 0, nil
	}
	if len(text) > maxDocument {
		return nil, 0, fmt.Errorf("redisstore: the key %s has %d bytes, want %d or fewer: delete it at the server", key, len(text), maxDocument)
	}
	number, data, found := strings.Cut(text, " ")
	revision, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || revision < 1 {
		return nil, 0, fmt.Errorf("redisstore: the key %s wasn't written by a node: delete it at the server", key)
	}
	return []byte(data), revision, nil
}

// SetDocument replaces a document if nobody has changed it since it had the given revision. The new
// revision is one higher than the given one. SetDocument returns ErrConflict if the document has a
// later revision, and an error that wraps [shared.ErrUnconfirmed] if it isn't known whether the
// document was replaced. It replaces a document with an earlier revision, because the server has
// then lost a change. A document must be shorter than 1 MiB. The other nodes are notified over
// Changes.
func (s *Store) SetDocument(ctx context.Context, name string, data []byte, revision int64) error {
	before, err := s.readDocument(ctx, name)
	if err != nil {
		return err
	}
	_, stored, err := parseDocument(s.server.keys.policy(name), before)
	if err != nil {
		return err
	}
	if stored > revision {
		return ErrConflict
	}
	after := strconv.FormatInt(revision+1, 10) + " " + string(data)
	if len(after) > maxDocument {
		return fmt.Errorf("redisstore: the document %q has %d bytes, want fewer than %d", name, len(data), maxDocument)
	}
	_, done, err := s.writer.compareAndSet(ctx, s.server.keys.policy(name), before, after, 0)
	if err != nil {
		return err
	}
	if !done {
		return ErrConflict
	}
	if err := s.notices.publish(ctx, []string{"policy " + escape(name) + " " + s.server.instance}); err != nil {
		s.server.options.Logger.Warn("redisstore: other nodes see a changed document later", "document", name, "problem", err)
	}
	return nil
}

// ReadDocuments calls read with each of several documents, as Document returns it. It uses one
// round trip. A node that calls it each second doesn't miss a change whose notice was lost. Compare
// the data too: if the server has lost documents, another node may have stored others with the same
// revisions. If a document can't be read, ReadDocuments reads the others, and returns an error.
func (s *Store) ReadDocuments(ctx context.Context, names []string, read func(name string, data []byte, revision int64)) error {
	texts, err := s.server.readList(ctx, names, s.server.keys.policy)
	if err != nil {
		return err
	}
	for i, text := range texts {
		data, revision, unreadable := parseDocument(s.server.keys.policy(names[i]), text)
		if unreadable != nil {
			err = cmp.Or(err, unreadable)
			continue
		}
		read(names[i], data, revision)
	}
	return err
}
