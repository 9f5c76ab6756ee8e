package helix

import (
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/journal"
)

// target is one user in one channel.
type target struct{ channelID, userID string }

// sanction prevents a user from writing. The zero value is one that ended long ago.
type sanction struct {
	length  time.Duration // 0 for a ban
	from    time.Time
	byOther bool   // given by somebody else, or for a person
	by      string // who else gave it, as in journal.Silence; empty if that isn't known
}

// banLength is how long a ban is assumed to last.
const banLength = 100 * 365 * 24 * time.Hour

func (s sanction) end() time.Time {
	if s.length == 0 {
		return s.from.Add(banLength)
	}
	return s.from.Add(s.length)
}

// outlasts reports whether the sanction is in force and lasts at least as long as a new one of this
// length would.
func (s sanction) outlasts(length time.Duration, now time.Time) bool {
	if s.length == 0 || length == 0 {
		return s.length == 0 && s.end().After(now)
	}
	return !s.end().Before(now.Add(length))
}

// userHistory is what is known about one user in one channel.
type userHistory struct {
	last sanction // the latest known sanction
	// asked is the sanction that this Moderator requested last. The chat reports it, too, and the
	// report must not count as somebody else's action.
	asked      sanction
	requests   int  // number of requests so far
	waiting    bool // Twitch hasn't answered the request yet
	seenInChat bool // the chat has reported the sanction in asked
}

// expiry returns when the history is no longer needed.
func (d *userHistory) expiry() time.Time {
	if echo := d.asked.from.Add(inTransit); echo.After(d.last.end()) {
		return echo
	}
	return d.last.end()
}

// matches reports whether a sanction that the chat reports is the requested one. They match if they
// have the same length and about the same time. The time doesn't matter while Twitch hasn't
// answered the request yet.
func (d *userHistory) matches(r chat.Removal, now time.Time) bool {
	if d.asked.length != r.Silence || d.asked.from.IsZero() {
		return false
	}
	return d.waiting || now.Sub(d.asked.from) <= inTransit || r.At.Sub(d.asked.from).Abs() <= inTransit
}

const (
	maxUsers   = 10_000 // users remembered
	sampleSize = 16     // users sampled to choose one to evict
	// inTransit is how long messages and reports may take between Twitch and us. A message with a
	// timestamp up to this long after a sanction may have been sent before the sanction. The chat
	// may report the sanction up to this late.
	inTransit = 5 * time.Second
)

// Removed records a sanction that the chat reports. After that, the Moderator neither shortens nor
// lifts a sanction given by somebody else.
func (m *Moderator) Removed(r chat.Removal) {
	if r.UserID == "" || r.Silence == 0 && !r.Banned {
		return
	}
	who := target{r.ChannelID, r.UserID}
	m.noteReport(who, r)
	m.changed(who, r.Login)
}

// noteReport records a sanction that the chat reports.
func (m *Moderator) noteReport(who target, r chat.Removal) {
	now, me := m.now(), m.login()
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.historyOf(who)
	asked := d.matches(r, now)
	ours := asked
	if r.By != "" && me != "" {
		ours = r.By == me
	}
	d.last = sanction{length: r.Silence, from: r.At, byOther: !ours}
	switch {
	case ours && asked:
		d.last.byOther, d.last.by = d.asked.byOther, d.asked.by
	case !ours && r.By != "":
		d.last.by = journal.TwitchAuthor + r.By
	}
	if r.At.IsZero() {
		d.last.from = now
	}
	d.seenInChat = d.seenInChat || ours
}

// Lifted records that somebody ended a sanction. It does nothing if the known sanction was given
// later.
func (m *Moderator) Lifted(l chat.Lift) {
	m.end(target{l.ChannelID, l.UserID}, func(from time.Time) bool { return l.At.IsZero() || !from.After(l.At) })
}

// Wrote records that a user sent a message at a time. If the chat sent it during a sanction, that
// sanction is over, even if nobody has reported its end. IRC doesn't report it.
func (m *Moderator) Wrote(channelID, userID string, at time.Time) {
	m.end(target{channelID, userID}, func(from time.Time) bool { return at.After(from.Add(inTransit)) })
}

// end records that the sanction in force is over, if isOver returns true for its beginning.
func (m *Moderator) end(who target, isOver func(from time.Time) bool) {
	now := m.now()
	m.mu.Lock()
	d := m.users[who]
	if d == nil || !d.last.end().After(now) || !isOver(d.last.from) {
		m.mu.Unlock()
		return
	}
	d.last = sanction{}
	m.mu.Unlock()
	m.changed(who, "")
}

// sanction imposes a sanction on the author of a message, unless one that lasts at least as long is
// in force. Length 0 means a ban. If the user sent the message during a sanction, that sanction
// counts as lifted.
func (m *Moderator) sanction(who target, length time.Duration, sent time.Time, give func(unless func() bool) error) error {
	request := m.noteRequest(who, sanction{length: length, from: m.now()})
	err := give(func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		last := m.historyOf(who).last
		return last.outlasts(length, m.now()) && !sent.After(last.from.Add(inTransit))
	})
	m.noteAnswer(who, request, err)
	if errors.Is(err, errNeedless) {
		return nil
	}
	return ignoreBanned(err)
}

// sanctionRequest is a requested sanction and the number of the request.
type sanctionRequest struct {
	sanction
	number int
}

// noteRequest records a sanction that is about to be requested.
func (m *Moderator) noteRequest(who target, s sanction) sanctionRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.historyOf(who)
	d.requests++
	d.asked, d.waiting, d.seenInChat = s, true, false
	return sanctionRequest{s, d.requests}
}

// noteAnswer records the result of a requested sanction. If the chat has already reported this
// sanction, the chat's latest report takes precedence, because somebody else may have given another
// sanction since.
func (m *Moderator) noteAnswer(who target, r sanctionRequest, err error) {
	now := m.now() // read the clock late: the request may have waited
	defer m.changed(who, "")
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.historyOf(who)
	seenInChat := false
	if r.from = now; d.requests == r.number {
		d.asked, d.waiting, seenInChat = r.sanction, false, d.seenInChat
	}
	switch {
	case isUnsent(err) && d.requests == r.number: // the chat can't report it
		d.asked = sanction{}
	case err == nil && !seenInChat:
		d.last = r.sanction
	case errors.Is(err, ErrBanned) && !d.last.outlasts(0, now):
		d.last = sanction{from: now, byOther: true}
	}
}

// isUnsent reports whether a request with this error was certainly not carried out.
func isUnsent(err error) bool {
	return errors.Is(err, errNeedless) || errors.As(err, new(*chat.HeldError)) && !errors.Is(err, chat.ErrUnanswered)
}

// sanctionedByOther reports whether somebody else gave the user's sanction.
func (m *Moderator) sanctionedByOther(who target) bool {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.users[who]
	return d != nil && d.last.byOther && d.last.end().After(now)
}

// forget removes what is known about a user.
func (m *Moderator) forget(who target) {
	m.mu.Lock()
	delete(m.users, who)
	m.mu.Unlock()
	m.changed(who, "")
}

// historyOf returns what is known about a user. If there is no room for another user, it evicts the
// user that firstToExpire returns. The caller holds mu.
func (m *Moderator) historyOf(who target) *userHistory {
	if d := m.users[who]; d != nil {
		return d
	}
	if m.users == nil {
		m.users = make(map[target]*userHistory)
	}
	if len(m.users) >= maxUsers {
		delete(m.users, m.firstToExpire())
	}
	d := &userHistory{}
	m.users[who] = d
	return d
}

// firstToExpire looks at a few users, in the map's random order. It returns the one whose history
// expires first.
func (m *Moderator) firstToExpire() (first target) {
	var until time.Time
	looked := 0
	for who, d := range m.users {
		if looked == 0 || d.expiry().Before(until) {
			first, until = who, d.expiry()
		}
		if looked++; looked == sampleSize {
			break
		}
	}
	return first
}
