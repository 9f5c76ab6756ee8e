// Package repeats remembers who wrote the same text in the last ten minutes, in channels with
// limits on repeated text. It knows texts only by their prints, and must not know the database or
// HTTP.
package repeats

import (
	"hash/maphash"
	"math"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/recent"
)

const (
	// Kept is how long messages are remembered. Older ones are forgotten when others arrive, in any
	// channel.
	Kept = 10 * time.Minute
	// mostMessages is the maximum number of remembered messages of all channels: 218 per second for
	// ten minutes. Beyond it, the oldest are forgotten. A message takes up to 250 bytes.
	mostMessages = 1 << 17
	// clockJump is the longest time by which a clock goes back unless it is set back.
	clockJump = time.Minute
	// keptEntries is the minimum number of journal entries whose Repeats are remembered until the
	// observers of the same message have asked for them.
	keptEntries = 1 << 10
)

// Memory remembers the messages of all channels. Its only time is the Guard's clock when a message
// arrives: times that others give may be wrong. It is safe for concurrent use. Create one with New.
type Memory struct {
	guard *chatguard.Guard
	most  int
	seed  maphash.Seed

	mu      sync.Mutex
	said    []said // in the order of arrival; those before first are forgotten
	first   int
	texts   map[uint64]text   // by a key of said.texts
	own     map[uint64]uint32 // how many messages with a text a user wrote, by a key of said.own
	repeats recent.Map[chatguard.EntryID, journal.Repeats]
}

// said is a message. Its keys are hashes of the text, as it is and as similar texts have it, with
// the channel, and in own also with the user. They are 0 if nothing is left of the text in that
// form.
type said struct {
	at         int64 // ns since 1970
	texts, own [2]uint64
}

// text counts the messages with a text, and their users.
type text struct{ times, people uint32 }

// New returns an empty Memory for a Guard's verdicts.
func New(guard *chatguard.Guard) *Memory {
	return &Memory{
		guard: guard, most: mostMessages, seed: maphash.MakeSeed(), texts: map[uint64]text{}, own: map[uint64]uint32{},
		repeats: recent.Map[chatguard.EntryID, journal.Repeats]{Size: keptEntries},
	}
}

// Observe remembers a message whose verdict has a print. It has the signature of
// chatguard.Options.Observer, and never blocks. Observers that want the Repeats of a message must
// come after it.
func (r *Memory) Observe(_ chatguard.Message, v chatguard.Verdict) {
	if v.Print.IsZero() {
		return
	}
	limit := inner.Of(r.guard).Limit(v.ChannelID, v.Limit)
	s := r.newSaid(v.ChannelID, v.UserID, v.Print)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.at = r.expire()
	if len(r.said)-r.first == r.most {
		r.forgetOldest()
	}
	r.add(s)
	if v.EntryID != 0 && inner.IsText(limit.Per) {
		r.repeats.Set(v.EntryID, r.repeatsOf(&s, &limit), time.Time{})
	}
}

// newSaid returns a message, without its time.
func (r *Memory) newSaid(channelID, userID string, print chatguard.TextPrint) (s said) {
	type inChannel struct {
		id      string
		text    [16]byte
		similar int
	}
	type ofUser struct {
		id   string
		text uint64
	}
	for i, hash := range inner.Of(r.guard).Hashes(print) {
		if hash != [16]byte{} {
			s.texts[i] = maphash.Comparable(r.seed, inChannel{channelID, hash, i})
			s.own[i] = maphash.Comparable(r.seed, ofUser{userID, s.texts[i]})
		}
	}
	return s
}

// expire forgets old messages, and returns the time, which is never before the newest message. If
// the Guard's clock was set back by more than clockJump, expire forgets all messages, because their
// age is unknown.
func (r *Memory) expire() (now int64) {
	now = r.guard.Now().UnixNano()
	since := now - int64(Kept)
	if n := len(r.said); n > r.first {
		if newest := r.said[n-1].at; newest-now > int64(clockJump) {
			since = math.MaxInt64
		} else {
			now = max(now, newest)
		}
	}
	for r.first < len(r.said) && r.said[r.first].at < since {
		r.forgetOldest()
	}
	return now
}

// add adds the newest message.
func (r *Memory) add(s said) {
	if r.first > 0 && 2*r.first >= len(r.said) {
		r.said, r.first = r.said[:copy(r.said, r.said[r.first:])], 0
	}
	r.said = append(r.said, s)
	for i, key := range s.texts {
		if key == 0 {
			continue
		}
		t := r.texts[key]
		t.times++
		if r.own[s.own[i]]++; r.own[s.own[i]] == 1 {
			t.people++
		}
		r.texts[key] = t
	}
}

// forgetOldest forgets the oldest message.
func (r *Memory) forgetOldest() {
	s := r.said[r.first]
	r.first++
	for i, key := range s.texts {
		if key == 0 {
			continue
		}
		t := r.texts[key]
		if r.own[s.own[i]]--; r.own[s.own[i]] == 0 {
			delete(r.own, s.own[i])
			t.people--
		}
		if t.times--; t.times == 0 {
			delete(r.texts, key)
		} else {
			r.texts[key] = t
		}
	}
}

// repeatsOf returns what the journal says about the newest message, which a limit throttled.
func (r *Memory) repeatsOf(s *said, limit *chatguard.Limit) journal.Repeats {
	within, form := Kept, formOf(limit.Similar)
	if 0 < limit.Every && limit.Every < Kept {
		within = limit.Every
	}
	return journal.Repeats{
		Times: r.userTimes(s.own[form], form, s.at-int64(within)), People: int(r.texts[s.texts[form]].people), Window: durations.Format(within),
	}
}

// userTimes returns how many messages with a text a user wrote since a time. It looks at the newest
// messages first, and stops when it has found all of the user's.
func (r *Memory) userTimes(key uint64, form int, since int64) (times int) {
	if r.said[r.first].at >= since {
		return int(r.own[key])
	}
	for i, left := len(r.said)-1, r.own[key]; left > 0 && r.said[i].at >= since; i-- {
		if r.said[i].own[form] == key {
			times++
			left--
		}
	}
	return times
}

// Of returns the Repeats of the message of a new journal entry. They are zero if no limit on
// repeated text throttled it.
func (r *Memory) Of(id chatguard.EntryID) journal.Repeats {
	r.mu.Lock()
	defer r.mu.Unlock()
	repeats, _ := r.repeats.Get(id)
	return repeats
}

// Count returns how often the text with a print was written in a channel in the last ten minutes,
// and by how many users. Similar texts count as the same if similar is set. It is for a view of
// raids, which groups people by "wrote the same"; nothing calls it yet.
func (r *Memory) Count(channelID string, print chatguard.TextPrint, similar bool) (times, people int) {
	s := r.newSaid(channelID, "", print)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	t := r.texts[s.texts[formOf(similar)]]
	return int(t.times), int(t.people)
}

// formOf returns the index of a text's keys in said.
func formOf(similar bool) int {
	if similar {
		return 1
	}
	return 0
}
