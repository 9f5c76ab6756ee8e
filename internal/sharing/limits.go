package sharing

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// scope is the limits of one scope.
type scope struct {
	set   *limits.Set
	since int64 // when they came into force
}

// changeScope changes the limits of a scope, as of the given time.
func changeScope(current *atomic.Pointer[scope], set *limits.Set, at int64) {
	if set == nil {
		current.Store(nil)
		return
	}
	if before := current.Load(); before != nil {
		set = set.After(before.set, at)
	}
	current.Store(&scope{set, at})
}

// ref returns the row of a key with these limits.
func (s *scope) ref(key, flight Key) rowRef {
	return rowRef{key: key, flight: flight, set: s.set, since: s.since}
}

// rowRef is a row that a message uses, with the limits that apply to it.
type rowRef struct {
	key    Key
	flight Key // see scopes.flight
	set    *limits.Set
	since  int64          // when the set came into force
	order  map[string]int // as in limits.Place
}

// scopes are the limits that count in all channels; nil if there are none.
type scopes struct {
	everywhere, overall atomic.Pointer[scope]
	// mixed is set once a message uses PerUserEverywhere and PerChannel limits. See flight.
	mixed atomic.Bool
}

// Channel is the limits of a channel's rows. Create it with NewChannel.
type Channel struct {
	id            string
	users, common atomic.Pointer[scope]    // of each user, and of everyone together; nil if there are none
	texts         atomic.Pointer[[]*scope] // one for each limits.SameText; nil if there are none
	// used is when a message was last judged by these rows. It may be a second behind. The Guard's
	// tables don't show whether such a channel is in use.
	used atomic.Int64
}

// NewChannel returns a channel with these limits.
func NewChannel(id string, sets *limits.Sets) *Channel {
	c := &Channel{id: id}
	c.Change(sets, 0)
	return c
}

// Change changes the limits of the channel's rows, as of the given time.
func (c *Channel) Change(sets *limits.Sets, at int64) {
	changeScope(&c.users, sets[limits.PerUser], at)
	changeScope(&c.common, sets[limits.PerChannel], at)
	c.changeTexts(sets, at)
}

// changeTexts changes the limits on repeated text.
func (c *Channel) changeTexts(sets *limits.Sets, at int64) {
	var before, next []*scope
	if known := c.texts.Load(); known != nil {
		before = *known
	}
	for _, set := range sets.Texts() {
		if i := slices.IndexFunc(before, func(b *scope) bool { return *b.set.Text() == *set.Text() }); i >= 0 {
			set = set.After(before[i].set, at)
		}
		next = append(next, &scope{set, at})
	}
	if next != nil {
		c.texts.Store(&next)
	} else {
		c.texts.Store(nil)
	}
}

// text returns the limits on the repeated text with a key, or nil if there are none.
func (c *Channel) text(key string) *scope {
	texts := c.texts.Load()
	if texts == nil {
		return nil
	}
	for _, text := range *texts {
		if text.set.Text().HasKey(key) {
			return text
		}
	}
	return nil
}

// Change changes the limits that count in all channels, as of the given time.
func (s *Rows) Change(sets *limits.Sets, at int64) {
	changeScope(&s.scopes.everywhere, sets[limits.PerUserEverywhere], at)
	changeScope(&s.scopes.overall, sets[limits.PerEverywhere], at)
}

// Used returns when a message was last judged by the channel's rows. It may be a second behind.
func (c *Channel) Used() int64 { return c.used.Load() }

// use notes that the channel is in use at that time.
func (c *Channel) use(at int64) {
	if used := c.used.Load(); at-used > int64(time.Second) || at < used {
		c.used.Store(at)
	}
}

// flight returns the key of the row that stands for the flight of a row. c is the channel of that
// row; nil if the row is for all channels. A flight is a single-flight: of the requests that need
// its rows, one at a time works with the store. All rows of a message have the same flight, and no
// row has two. So there is one flight for each user in a channel, for each user if there are
// PerUserEverywhere limits, or for each channel if there are PerChannel limits or limits on
// repeated text. If there are both, or PerEverywhere limits, everything is one flight, with an
// empty key.
func (s *scopes) flight(c *Channel, key Key) Key {
	everywhere, common := s.everywhere.Load() != nil, c != nil && (c.common.Load() != nil || c.texts.Load() != nil)
	switch {
	case s.overall.Load() != nil:
		return Key{}
	case everywhere && (common || s.mixed.Load()):
		s.mixed.Store(true)
		return Key{}
	case everywhere:
		return Key{"", key.UserID}
	case common:
		return Key{key.ChannelID, ""}
	}
	return key
}

// onlyScope returns the limits of a user's row in the channel, if messages use no other row.
func (s *scopes) onlyScope(c *Channel) *scope {
	if s.everywhere.Load() != nil || c.common.Load() != nil || c.texts.Load() != nil || s.overall.Load() != nil {
		return nil
	}
	return c.users.Load()
}

// refs appends the rows that a message uses: the user's row in the channel, the user's row of
// PerUserEverywhere limits, the channel's row, the row of PerEverywhere limits, and those of
// repeated text. It leaves out the rows of scopes without limits.
func (s *scopes) refs(refs []rowRef, c *Channel, user User) []rowRef {
	own := Key{c.id, user.ID}
	flight := s.flight(c, own)
	refs = append(refs, c.users.Load().ref(own, flight))
	if everywhere := s.everywhere.Load(); everywhere != nil {
		ref := everywhere.ref(Key{"", user.ID}, flight)
		ref.order = user.Order
		refs = append(refs, ref)
	}
	if common := c.common.Load(); common != nil {
		refs = append(refs, common.ref(Key{c.id, ""}, flight))
	}
	if overall := s.overall.Load(); overall != nil {
		ref := overall.ref(Key{}, flight)
		ref.order = user.Order
		refs = append(refs, ref)
	}
	for _, key := range user.Texts {
		if text := c.text(key); text != nil { // otherwise the limits have just changed
			refs = append(refs, text.ref(Key{c.id, key}, flight))
		}
	}
	return refs
}

// ref returns the row of a key at the current time. It returns false if there are no limits for the
// key any more, or if the channel ID isn't valid.
func (s *Rows) ref(key Key, now time.Time) (rowRef, bool) {
	var c *Channel
	scope := s.scopes.everywhere.Load()
	switch {
	case key == Key{}:
		scope = s.scopes.overall.Load()
	case key.ChannelID != "":
		if c = s.tables.Shared(key.ChannelID, now); c == nil { // not a valid ID
			return rowRef{}, false
		}
		switch {
		case key.UserID == "":
			scope = c.common.Load()
		case key.UserID[0] == limits.TextMark:
			scope = c.text(key.UserID)
		default:
			scope = c.users.Load()
		}
	}
	if scope == nil {
		return rowRef{}, false
	}
	return scope.ref(key, s.scopes.flight(c, key)), true
}
