package helix

import (
	"errors"
	"slices"
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

// givenBy returns a sanction by an author as in journal.Silence. Length 0 means a ban.
func givenBy(author string, from time.Time, length time.Duration) sanction {
	if author == journal.ProgramAuthor {
		return sanction{length: length, from: from}
	}
	return sanction{length: length, from: from, byOther: true, by: author}
}

// banLength is how long a ban is assumed to last.
const banLength = 100 * 365 * 24 * time.Hour

func (s sanction) end() time.Time {
	if s.length == 0 {
		return s.from.Add(banLength)
	}
	return s.from.Add(s.length)
}

// silence returns the sanction as people see it.
func (s sanction) silence() journal.Silence {
	out := journal.Silence{Banned: s.length == 0, At: s.from.UTC(), By: s.by}
	if !out.Banned {
		out.Until = s.end().UTC()
	}
	if !s.byOther {
		out.By = journal.ProgramAuthor
	}
	return out
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
	last    sanction  // the latest known sanction
	endedAt time.Time // when somebody ended it; zero if nobody did
	// asked are the sanctions that this Moderator requested last, in order. The chat reports them,
	// too, and the reports must not count as somebody else's actions.
	asked []*sanctionRequest
}

// sanctionRequest is a requested sanction.
type sanctionRequest struct {
	sanction
	waiting    bool // Twitch hasn't answered yet
	seenInChat bool // the chat has reported the sanction
}

// expiry returns when the history is no longer needed.
func (d *userHistory) expiry() time.Time {
	expiry := d.last.end()
	for _, r := range d.asked {
		if echo := r.from.Add(inTransit); echo.After(expiry) {
			expiry = echo
		}
	}
	return expiry
}

// matches reports whether a sanction that the chat reports is the requested one. They match if they
// have the same length and about the same time. The time doesn't matter while Twitch hasn't
// answered the request yet.
func (r *sanctionRequest) matches(told chat.Removal, now time.Time) bool {
	if r.length != told.Silence {
		return false
	}
	return r.waiting || now.Sub(r.from) <= inTransit || told.At.Sub(r.from).Abs() <= inTransit
}

// request returns the request whose sanction the chat reports, or nil. The chat reports sanctions
// in their order, so it is the first that the chat hasn't reported yet.
func (d *userHistory) request(told chat.Removal, now time.Time) (found *sanctionRequest) {
	for _, r := range d.asked {
		if r.matches(told, now) && (found == nil || found.seenInChat) {
			found = r
		}
	}
	return found
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
	asked := d.request(r, now)
	ours := asked != nil
	if r.By != "" && me != "" {
		ours = r.By == me
	}
	last := sanction{length: r.Silence, from: r.At, byOther: !ours}
	switch {
	case ours && asked != nil:
		last.byOther, last.by, asked.seenInChat = asked.byOther, asked.by, true
	case ours:
		for _, a := range d.asked {
			a.seenInChat = true // one of them, with another length
		}
	case r.By != "":
		last.by = journal.TwitchAuthor + r.By
	}
	if r.At.IsZero() {
		last.from = now
	}
	if !last.from.Before(d.endedAt) { // otherwise the report is late
		d.give(last)
	}
}

// give records the sanction that is in force now.
func (d *userHistory) give(s sanction) { d.last, d.endedAt = s, time.Time{} }

// end records that all sanctions from before a time are over.
func (d *userHistory) end(at time.Time) { d.last, d.endedAt = sanction{}, at }

// Lifted records that somebody ended a sanction. It does nothing if the known sanction was given
// later.
func (m *Moderator) Lifted(l chat.Lift) {
	who, now := target{l.ChannelID, l.UserID}, m.now()
	m.mu.Lock()
	d := m.historyOf(who)
	isOver := l.At.IsZero() || !d.last.from.After(l.At)
	switch {
	case isOver && !l.At.IsZero() && l.At.Before(now):
		d.end(l.At)
	case isOver:
		d.end(now)
	}
	m.mu.Unlock()
	if isOver {
		m.changed(who, "")
	}
}

// Wrote records that a user sent a message at a time. If the chat sent it during a sanction, that
// sanction is over, even if nobody has reported its end. IRC doesn't report it.
func (m *Moderator) Wrote(channelID, userID string, at time.Time) {
	who, now := target{channelID, userID}, m.now()
	m.mu.Lock()
	d := m.users[who]
	isOver := d != nil && d.last.end().After(now) && at.After(d.last.from.Add(inTransit))
	if isOver {
		d.end(now)
	}
	m.mu.Unlock()
	if isOver {
		m.changed(who, "")
	}
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

// noteRequest records a sanction that is about to be requested.
func (m *Moderator) noteRequest(who target, s sanction) *sanctionRequest {
	r := &sanctionRequest{sanction: s, waiting: true}
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.historyOf(who)
	d.asked = append(slices.DeleteFunc(d.asked, func(former *sanctionRequest) bool {
		return !former.waiting && s.from.Sub(former.from) > inTransit
	}), r)
	return r
}

// noteAnswer records the result of a requested sanction. If the chat has already reported this
// sanction, the chat's latest report takes precedence, because somebody else may have given another
// sanction since.
func (m *Moderator) noteAnswer(who target, r *sanctionRequest, err error) {
	now := m.now() // read the clock late: the request may have waited
	defer m.changed(who, "")
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.historyOf(who)
	r.from, r.waiting = now, false
	switch {
	case isUnsent(err): // the chat can't report it
		d.asked = slices.DeleteFunc(d.asked, func(other *sanctionRequest) bool { return other == r })
	case err == nil && !r.seenInChat:
		d.give(r.sanction)
	case errors.Is(err, ErrBanned) && !d.last.outlasts(0, now):
		d.give(sanction{from: now, byOther: true})
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
