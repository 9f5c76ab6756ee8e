package policies

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// Documents keeps small documents where several nodes find them.
type Documents interface {
	// Document returns a document and its revision, which is 0 if there is none.
	Document(ctx context.Context, name string) (data []byte, revision int64, err error)
	// SetDocument replaces a document that has the given revision, or an earlier one because
	// changes were lost. The document then has the next revision after the given one. SetDocument
	// returns ErrStale if the document has a later revision.
	SetDocument(ctx context.Context, name string, data []byte, revision int64) error
	// ReadDocuments calls read with each of several documents, as Document returns it. If there is
	// an error, it has called read with those that it can read.
	ReadDocuments(ctx context.Context, names []string, read func(name string, data []byte, revision int64)) error
	// Changes receives the names of documents that other nodes have changed. A name may get lost.
	Changes() <-chan string
}

// DocumentKind is a kind of document, of which each channel may have one. A document's name is the
// Prefix with the channel's ID.
type DocumentKind struct {
	Prefix string
	// Apply puts in force a document that another node has changed.
	Apply func(ctx context.Context, channelID string, data []byte) error
	// Current returns what is in force here; ok is false if no other node has to know it. isLost
	// means that the other nodes knew it, but the document is gone or is an earlier one.
	Current func(channelID string, isLost bool) (value any, ok bool)
	// Changing is held while Apply runs.
	Changing sync.Locker
}

// Shared are the documents that this node shares with others. Without Documents, its methods do
// nothing. It is safe for concurrent use.
type Shared struct {
	store    Documents       // nil if there are no other nodes
	channels func() []string // IDs of those that may have documents, besides the served ones
	log      *slog.Logger
	kinds    []*DocumentKind

	mu     sync.Mutex
	states map[string]documentState // of the documents that are in force here, by name
	served map[string]bool          // channels noted by Serve

	problems map[string]string // why a document can't be applied, by name, as logged; only for Run
}

// isAlone reports whether there are no other nodes.
func (s *Shared) isAlone() bool { return s.store == nil }

// Add adds a kind of document. Call it before Run.
func (s *Shared) Add(k *DocumentKind) *DocumentKind {
	s.kinds = append(s.kinds, k)
	return k
}

// mostServed is the maximum number of channels that Serve remembers.
const mostServed = 1000

// Serve notes that this node judges messages in a channel, so that Run looks at what people have
// changed in it on other nodes. It remembers 1,000 channels. In any further channel, only later
// changes come into force here.
func (s *Shared) Serve(channelID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.served) < mostServed {
		s.served[channelID] = true
	}
}

// documentState tells one state of a document from another. If the store has lost data, nodes may
// have stored other data with the same revision since.
type documentState struct {
	revision int64
	data     [sha256.Size]byte
}

func stateOf(data []byte, revision int64) documentState {
	return documentState{revision, sha256.Sum256(data)}
}

func (s *Shared) note(name string, state documentState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[name] = state
}

// known returns the state of a document that is in force here. ok is false if this node has never
// looked at it.
func (s *Shared) known(name string) (state documentState, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok = s.states[name]
	return state, ok
}

// Follow puts a channel's document in force, if it was changed elsewhere. It returns the document's
// revision. If there is none, or one that is earlier than what this node knows, because the store
// has lost it or was restored, Follow shares what is in force here.
func (s *Shared) Follow(ctx context.Context, k *DocumentKind, channelID string) (revision int64, err error) {
	if s.isAlone() {
		return 0, nil
	}
	name := k.Prefix + channelID
	data, revision, err := s.store.Document(ctx, name)
	if err != nil {
		return 0, err
	}
	found := stateOf(data, revision)
	known, _ := s.known(name)
	if found == known && revision != 0 {
		return revision, nil
	}
	if revision < known.revision || revision == 0 {
		if value, ok := k.Current(channelID, known.revision != 0); ok {
			return s.share(ctx, k, channelID, value, known.revision)
		}
	}
	if revision != 0 {
		if err := k.Apply(ctx, channelID, data); err != nil {
			return 0, err
		}
	}
	s.note(name, found)
	return revision, nil
}

// share shares what is in force here, and returns the document's revision.
func (s *Shared) share(ctx context.Context, k *DocumentKind, channelID string, value any, known int64) (revision int64, err error) {
	if err := s.Set(ctx, k, channelID, value, known); errors.Is(err, ErrStale) { // another node was faster
		return s.Follow(ctx, k, channelID)
	} else if err != nil {
		return 0, err
	}
	return known + 1, nil
}

// Set shares a value that comes into force here, if the document has no later revision than the
// given one. If it has, the error is ErrStale.
func (s *Shared) Set(ctx context.Context, k *DocumentKind, channelID string, value any, revision int64) error {
	if s.isAlone() {
		return nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	name := k.Prefix + channelID
	if err := s.store.SetDocument(ctx, name, data, revision); err != nil {
		return err
	}
	s.note(name, stateOf(data, revision+1))
	return nil
}

// NotShared returns the error for a change that was not made, or may not have been, because a
// document can't be read or written.
func NotShared(err error) error {
	switch {
	case errors.Is(err, ErrStale):
		return ErrStale
	case errors.Is(err, shared.ErrUnconfirmed), errors.Is(err, shared.ErrAway), errors.Is(err, shared.ErrRefused):
		return err
	}
	return fmt.Errorf("%w: %w", shared.ErrRefused, err)
}

// Run puts in force what people change on other nodes, until ctx ends.
func (s *Shared) Run(ctx context.Context) {
	if s.isAlone() {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	problem := ""
	for {
		err := s.followAll(ctx)
		text := fmt.Sprint(err)
		switch {
		case ctx.Err() != nil || isOutage(err):
		case err == nil && problem != "":
			s.log.Info("changes on other nodes are known again")
			problem = ""
		case err != nil && text != problem:
			s.log.Warn("changes on other nodes aren't known", "problem", text)
			problem = text
		}
		select {
		case name := <-s.store.Changes():
			s.followDocument(ctx, name)
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// isOutage reports whether the store doesn't answer, which it logs itself.
func isOutage(err error) bool {
	return errors.Is(err, shared.ErrAway) || errors.Is(err, shared.ErrUnconfirmed)
}

// followAll looks at the documents of all known channels.
func (s *Shared) followAll(ctx context.Context) error {
	names := s.names()
	if len(names) == 0 {
		return nil
	}
	var changed []string
	err := s.store.ReadDocuments(ctx, names, func(name string, data []byte, revision int64) {
		if known, ok := s.known(name); !ok || known != stateOf(data, revision) {
			changed = append(changed, name)
		} else {
			s.endProblem(name)
		}
	})
	for _, name := range changed {
		s.followDocument(ctx, name)
	}
	return err
}

// names returns the names of the documents that exist or may exist.
func (s *Shared) names() (names []string) {
	ids := s.channels()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.AppendSeq(ids, maps.Keys(s.served)) {
		for _, k := range s.kinds {
			names = append(names, k.Prefix+id)
		}
	}
	names = slices.AppendSeq(names, maps.Keys(s.states))
	slices.Sort(names)
	return slices.Compact(names)
}

// followDocument puts in force a document that another node has changed. It logs each problem once.
func (s *Shared) followDocument(ctx context.Context, name string) {
	for _, k := range s.kinds {
		id, ok := strings.CutPrefix(name, k.Prefix)
		if !ok {
			continue
		}
		k.Changing.Lock()
		_, err := s.Follow(ctx, k, id)
		k.Changing.Unlock()
		if err == nil {
			s.endProblem(name)
		} else if text := err.Error(); ctx.Err() == nil && !isOutage(err) && s.problems[name] != text {
			s.problems[name] = text
			s.log.Error("a document of the shared store can't be applied", "document", name, "error", err)
		}
	}
}

// endProblem notes that a document is in force.
func (s *Shared) endProblem(name string) {
	if s.problems[name] != "" {
		delete(s.problems, name)
		s.log.Info("the document is applied again", "document", name)
	}
}
