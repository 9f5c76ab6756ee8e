package live

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/penalties"
)

// Silenced updates a user's timeout or ban after the chat has reported a change. If the user isn't
// listed, the board gets a row for them; login may be empty. Silenced never blocks.
func (m *Model) Silenced(channelID, userID, login string) {
	if m.opts.Controls == nil {
		return
	}
	now, key := m.opts.Guard.Now(), rowKey{channelID, userID}
	m.silencing.Lock() // until the board has what is known, so that nothing older comes after it
	defer m.silencing.Unlock()
	s, ok := m.opts.Controls.Silences.Known(channelID, userID)
	if !ok || !s.IsInForce(now) {
		m.board.silence(key, nil, journal.Person{}, now)
		return
	}
	if s.At.IsZero() {
		s.At = now.UTC()
	}
	if m.board.silence(key, &s, journal.Person{Login: login}, now) {
		m.unnamed.add(key)
	}
}

// Made records a person's change of a user or of chat modes, so that all dashboards show who did
// what.
func (m *Model) Made(a journal.Audit) {
	if change, ok := journal.DetailOf[journal.ChatModesChange](a); ok && a.Action == journal.ChatModesChanged {
		m.modes.add(a, change, m.opts.Channels())
		m.ChannelsChanged()
	}
	if a.ChannelID != "" && a.UserID != "" && a.Action != journal.Unconfirmed {
		m.board.act(rowKey{a.ChannelID, a.UserID}, Act{a.Action, a.Author, a.At, isPartial(a), ended(a)})
	}
}

// isPartial reports whether a change is a pardon that left something in force.
func isPartial(a journal.Audit) bool {
	run, _ := journal.DetailOf[journal.PardonDetail](a)
	entry, _ := journal.DetailOf[journal.EntryPardonDetail](a)
	return run.Partial || entry.Partial
}

// ended returns what a change has ended, as in Act.
func ended(a journal.Audit) chatguard.Action {
	lift, _ := journal.DetailOf[journal.LiftDetail](a)
	former := lift.Former
	if restored, _ := journal.DetailOf[journal.TimeoutDetail](a); restored.Restored {
		former = restored.Former
	}
	if former == nil {
		return ""
	}
	return former.Action()
}

// assumeSilence shows the timeout or ban of a throttled message in a chat that doesn't report any,
// such as a room of another server.
func (m *Model) assumeSilence(e *journal.Entry, now time.Time) {
	if e.Outcome.Result == journal.Observed || !penalties.Silences(e.Penalty.Action) || m.acts(e.ChannelID) {
		return
	}
	s := e.Silence(e.At)
	m.board.assume(rowKey{e.ChannelID, e.UserID}, &s, now)
}

// nameUsers completes the rows of users who are listed although they haven't written, until ctx
// ends: it asks the Guard for their strikes, and reads their names from the store.
func (m *Model) nameUsers(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.unnamed.added:
		}
		keys := m.unnamed.take()
		for _, key := range keys {
			if ctx.Err() == nil {
				m.Amended(key.channel, key.user)
			}
		}
		for _, key := range keys {
			person, ok, err := m.opts.Records.Person(ctx, key.channel, key.user)
			if err != nil {
				if ctx.Err() == nil {
					m.opts.Log.Warn("the name of a timed-out or banned user can't be read", "error", err)
				}
				break
			}
			if ok {
				m.board.name(key.channel, person)
			}
		}
	}
}

// recallSilences makes the chat know the timeouts and bans from before the start that the board
// lists. Silenced then puts them there.
func (m *Model) recallSilences(ctx context.Context) {
	if m.opts.Controls == nil {
		return
	}
	if err := m.opts.Controls.Silences.Recall(ctx, m.opts.Guard.Now().Add(-bansListed), MaxRows); err != nil && ctx.Err() == nil {
		m.opts.Log.Warn("the timeouts and bans from before the start can't be read", "error", err)
	}
}
