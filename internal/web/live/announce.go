package live

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/limitinfo"
)

// judgeAgain makes the Guard judge all throttled users of the channel again, so that the shown "may
// speak" time is correct under the current policy. An empty channel means all channels.
func (m *Model) judgeAgain(channel string, now time.Time) {
	for _, r := range m.board.list(channel, isHeld) {
		m.judgeRow(r, now)
	}
}

// judgeRow makes the Guard judge the last message of one user again. It never waits, except with
// exact sharing: then it reads the user's row in the store, which bounds that time itself. It needs
// no context, because whatever called it has already happened.
func (m *Model) judgeRow(r row, now time.Time) {
	e, err := limitinfo.Explain(context.Background(), m.opts.Guard, r.again(now))
	if err != nil {
		return // the row is removed when its time is up
	}
	v := e.Verdict
	v.Strikes = e.Strikes // the current ones; the query's verdict has none
	m.board.judge(r, v, now)
	if r.assumed && isForgiven(&r, &e, inner.Of(m.opts.Guard).InForce(r.Channel).Penalties, now) {
		m.board.silence(r.key(), nil, journal.Person{}, now)
	}
}

// isForgiven reports whether a pardon or reset has taken back the penalty that a row assumes. The
// Guard knows a timeout's end, but of a ban only the strike. Strikes that have lapsed end no ban.
func isForgiven(r *row, e *limitinfo.Explanation, p chatguard.Penalties, now time.Time) bool {
	if !r.Silenced.Banned {
		return !e.SilentUntil.After(now)
	}
	mayHaveLapsed := p.ForgetAfter > 0 && !now.Before(r.At.Add(p.ForgetAfter-p.StrikeEvery))
	return e.Strikes < r.Strikes && !mayHaveLapsed
}

// Revised publishes a revision of a channel's policy on the live feed. It judges the channel's
// users on the board again.
func (m *Model) Revised(r journal.Revision) {
	m.judgeAgain(r.ChannelID, m.opts.Guard.Now())
	m.revised.add(r.ChannelID) // An older verdict may still arrive, so pump judges again.
	m.announcePolicy(r.ChannelID, &RevisionNote{r.Number, r.Author, r.At})
}

// Saved publishes that a channel's policy has been saved.
func (m *Model) Saved(channelID string) { m.announcePolicy(channelID, nil) }

// announcePolicy publishes a channel's policy and, unless it is nil, the revision that changed it.
func (m *Model) announcePolicy(channelID string, revision *RevisionNote) {
	err := m.feed.publish(func() []Frame {
		frames := m.policyFrames([]string{channelID})
		frames[0].Policy.Revision = revision
		return frames
	})
	if err != nil {
		m.opts.Log.Error("live feed", "error", err)
	}
}

// Reloaded judges all users on the board again. The live feed then publishes every channel's
// policy.
func (m *Model) Reloaded() {
	m.judgeAgain("", m.opts.Guard.Now())
	for _, c := range m.opts.Channels() {
		m.Changed(c.ID)
	}
}

// Changed records that a channel's overlays have changed. Soon after, the Guard judges the
// channel's users on the board again, and the live feed announces the change. Changed never blocks,
// so it may be called with locks held.
func (m *Model) Changed(channelID string) { m.switched.add(channelID) }

// ChannelsChanged records that a chat has said something new of a channel, such as its modes. Soon
// after, the live feed announces the channels. ChannelsChanged never blocks.
func (m *Model) ChannelsChanged() { m.channelsNew.Store(true) }

// Amended judges a user again after a grant, pardon or other change. If nothing throttles the user
// any more, the board says so. Amended never waits for disk or a reader, and for the network only
// with exact sharing (see judgeRow).
func (m *Model) Amended(channelID, userID string) {
	if r, ok := m.board.find(channelID, userID); ok {
		m.judgeRow(r, m.opts.Guard.Now())
	}
}
