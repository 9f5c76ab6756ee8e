package live

import (
	"context"
	"errors"
	"slices"
	"time"
)

// feedPeriod is how long changes are collected before they are published.
const feedPeriod = 100 * time.Millisecond

// pump publishes changes until ctx ends. It publishes users every feedPeriod and the status every
// second.
func (m *Model) pump(ctx context.Context) {
	ticker := time.NewTicker(feedPeriod)
	defer ticker.Stop()
	for turn := 1; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switched := slices.Sorted(slices.Values(m.switched.take()))
		for _, channel := range slices.Concat(m.revised.take(), switched) {
			m.judgeAgain(channel, m.opts.Guard.Now())
		}
		m.board.expire(m.opts.Guard.Now())
		m.said.expire(m.opts.Guard.Now())
		err := errors.Join(m.feed.publish(m.changeFrames), m.announceSwitched(switched))
		if m.channelsNew.Swap(false) {
			err = errors.Join(err, m.feed.publishStatus())
		}
		if turn%int(time.Second/feedPeriod) == 0 {
			m.tallies.tick(m.opts.Guard.Now())
			m.watchRaids(m.opts.Guard.Now())
			m.sockets.snapshots.forget()
			err = errors.Join(err, m.feed.publishStatus())
		}
		if err != nil {
			m.opts.Log.Error("live feed", "error", err)
		}
	}
}

// watchRaids looks for signs of a raid once per second. Raid mode or a pause has answered them.
func (m *Model) watchRaids(now time.Time) {
	if m.opts.Controls == nil {
		return // there is no raid mode
	}
	for _, channel := range m.tallies.watchRaids(now) {
		if on := m.opts.Controls.Switches.Of(channel); !on.RaidUntil.IsZero() || on.PausedBy != "" {
			m.tallies.answerRaid(channel)
		}
	}
}

func (m *Model) changeFrames() []Frame {
	var frames []Frame
	for channel, c := range m.board.takeChanges() {
		slices.SortFunc(c.users, compareSince)
		frames = append(frames, Frame{Type: ThrottledFrame, Now: m.opts.Guard.Now(), Channel: channel, Users: c.users, Gone: c.gone})
	}
	return frames
}

func (m *Model) statusFrame(a Audience) Frame {
	status := m.Status(a)
	return Frame{Type: StatusFrame, Now: m.opts.Guard.Now(), Channel: a.channel, Channels: a.channels(m.Channels()), Unidentified: m.unidentified(a), Status: &status}
}

func (m *Model) snapshotFrame(a Audience) Frame {
	fr, channel := m.statusFrame(a), a.channel
	fr.Type = SnapshotFrame
	fr.Users = m.throttledUsers(channel, isAny)
	if channel != "" {
		policy := m.policyState(channel)
		fr.Policy = &policy
	}
	return fr
}

// announceSwitched publishes on the live feed the channels whose switches have changed. It also
// publishes the status, which says who paused a channel.
func (m *Model) announceSwitched(channels []string) error {
	if len(channels) == 0 {
		return nil
	}
	return errors.Join(m.feed.publish(func() []Frame { return m.policyFrames(channels) }), m.feed.publishStatus())
}

// policyFrames returns frames with the current policies of channels. It is called while the feed
// publishes, so that an older state is never sent after a newer one.
func (m *Model) policyFrames(channels []string) []Frame {
	var frames []Frame
	for _, channel := range channels {
		policy := m.policyState(channel)
		frames = append(frames, Frame{Type: PolicyFrame, Now: m.opts.Guard.Now(), Channel: channel, Policy: &policy})
	}
	return frames
}
