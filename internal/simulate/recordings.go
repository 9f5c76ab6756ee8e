package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/roles"
)

// MaxRecorded is the maximum number of messages in Recordings. They take 60 bytes each, and
// each author about 200.
const MaxRecorded = 1_000_000

// maxLogin is the maximum length in bytes of a login that Recordings keep.
const maxLogin = 256

var (
	errLongLogin = fmt.Errorf("the login is longer than %d bytes", maxLogin)
	errCrowd     = fmt.Errorf("the channel is one of more than %d: split the record by channels, and read the parts one by one", maxChannels)
)

// ErrFull is the error for more than MaxRecorded messages.
var ErrFull = errors.New("there are more than 1,000,000 messages: read fewer files, or only a part of one")

// Recordings hold the recorded messages of channels in memory: times, authors, roles, costs and
// kinds, and prints of the texts, but no texts. The zero value is empty. After the last Add, call
// Sort. After that, Recordings are safe for concurrent use.
type Recordings struct {
	channels []*recordedChannel
	byID     map[string]*recordedChannel
	authors  []author
	numbers  map[author]uint32 // indexes in authors
	roles    roles.Numbers[chatguard.Role]
	kinds    roles.Numbers[string]
	guard    *chatguard.Guard // makes the prints, with a key of its own; nil before the first channel
	count    int
}

// RecordedChannel is a channel with recorded messages.
type RecordedChannel struct {
	ID       string
	Login    string // empty if it isn't known
	Messages int
}

// recordedChannel holds the messages of a channel.
type recordedChannel struct {
	RecordedChannel
	said []said
}

// said is a message.
type said struct {
	at     int64  // nanoseconds since 1970
	author uint32 // index in Recordings.authors
	cost   uint32
	kinds  uint16 // number in Recordings.kinds
	roles  uint16 // number in Recordings.roles
	print  chatguard.TextPrint
}

// author is a user under one of their logins.
type author struct{ id, login string }

// Add adds a message. channelLogin is the login of its channel, and may be empty. Add retains
// neither m nor channelLogin. An error means that the message is not added. After MaxRecorded
// messages the error is Stop(ErrFull), so that Add can be called from Reader.Visit.
func (r *Recordings) Add(m chatguard.Message, channelLogin string) error {
	if r.count == MaxRecorded {
		return Stop(ErrFull)
	}
	if err := m.Validate(); err != nil {
		return err
	}
	if max(len(m.User.Login), len(channelLogin)) > maxLogin {
		return errLongLogin
	}
	c, err := r.channel(m.ChannelID)
	if err != nil {
		return err
	}
	if c.Login == "" {
		c.Login = strings.Clone(channelLogin)
	}
	cost := uint32(min(max(1, m.Cost), math.MaxUint32)) // no limit distinguishes larger costs
	c.said = append(c.said, said{
		m.SentAt.UnixNano(), r.number(author{m.User.ID, m.User.Login}), cost, r.kinds.Of(m.Kinds), r.roles.Of(m.User.Roles), r.guard.TextPrint(m.Text),
	})
	c.Messages++
	r.count++
	return nil
}

// channel returns the channel with an ID. It adds the channel if it is new.
func (r *Recordings) channel(id string) (*recordedChannel, error) {
	if c := r.byID[id]; c != nil {
		return c, nil
	}
	if len(r.channels) == maxChannels {
		return nil, errCrowd
	}
	if r.byID == nil {
		guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
		if err != nil {
			return nil, Stop(err)
		}
		r.byID, r.numbers, r.guard = map[string]*recordedChannel{}, map[author]uint32{}, guard
	}
	c := &recordedChannel{RecordedChannel: RecordedChannel{ID: strings.Clone(id)}}
	r.channels, r.byID[c.ID] = append(r.channels, c), c
	return c, nil
}

// number returns the index of an author.
func (r *Recordings) number(a author) uint32 {
	n, known := r.numbers[a]
	if !known {
		n, a = uint32(len(r.authors)), author{strings.Clone(a.id), strings.Clone(a.login)}
		r.authors, r.numbers[a] = append(r.authors, a), n
	}
	return n
}

// Sort sorts the messages by time. Messages of the same time stay in the order of Add.
func (r *Recordings) Sort() {
	for _, c := range r.channels {
		slices.SortStableFunc(c.said, func(a, b said) int { return cmp.Compare(a.at, b.at) })
	}
	slices.SortStableFunc(r.channels, func(a, b *recordedChannel) int { return cmp.Compare(b.Messages, a.Messages) })
}

// Messages returns the number of messages.
func (r *Recordings) Messages() int { return r.count }

// Channels returns the channels. After Sort, the one with the most messages is the first.
func (r *Recordings) Channels() []RecordedChannel {
	list := make([]RecordedChannel, len(r.channels))
	for i, c := range r.channels {
		list[i] = c.RecordedChannel
	}
	return list
}

// Has reports whether the channel with an ID has recorded messages.
func (r *Recordings) Has(channelID string) bool { return r.byID[channelID] != nil }

// visitSize is the number of messages that Recordings.Timeline passes on at once.
const visitSize = 1 << 10

// Timeline calls visit with batches of a channel's messages since a time, in the order of their
// times. visit must not retain its argument. If visit fails or the context ends, Timeline stops and
// returns the error.
func (r *Recordings) Timeline(ctx context.Context, channelID string, since time.Time, visit func([]journal.TimelineMessage) error) error {
	c := r.byID[channelID]
	if c == nil {
		return nil
	}
	first := sort.Search(len(c.said), func(i int) bool { return !time.Unix(0, c.said[i].at).Before(since) })
	batch := make([]journal.TimelineMessage, 0, min(visitSize, len(c.said)-first))
	for part := range slices.Chunk(c.said[first:], visitSize) {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch = batch[:0]
		for _, s := range part {
			who := r.authors[s.author]
			batch = append(batch, journal.TimelineMessage{
				At: time.Unix(0, s.at), ChannelID: c.ID, UserID: who.id, Login: who.login, Roles: r.roles.Set(s.roles), Cost: int(s.cost),
				MessageKinds: r.kinds.Set(s.kinds), Print: s.print,
			})
		}
		if err := visit(batch); err != nil {
			return err
		}
	}
	return nil
}
