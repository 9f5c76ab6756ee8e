package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/webhook"
)

// The times at which a reporter looks.
const (
	reportEvery  = time.Second      // at failures
	bansEvery    = 5 * time.Second  // at bans, so that those of a flood are one event
	streamsEvery = 30 * time.Second // at streams that have ended
)

// reporter tells webhooks what happens. Of several nodes in a channel, one reports each event: a
// change by a person is reported by the node on which it was made, and what happens by itself by
// the node that acts in the channel. Each node reports its own failures. A reporter is safe for
// concurrent use.
type reporter struct {
	app *App

	mu   sync.Mutex
	bans []ban
	// raids has the channels in which this node has reported the beginning of raid mode.
	raids map[string]bool
	// streams has the last stream of each channel whose end may have to be reported.
	streams map[string]journal.Stream

	failures failures // used only by run
}

// newReporter returns a reporter that notices changes from now on.
func newReporter(a *App) *reporter {
	r := &reporter{app: a, raids: map[string]bool{}, streams: map[string]journal.Stream{}}
	a.Host.Policies.Followers.Watch(r.noteChange)
	return r
}

// run reports what happens until ctx ends.
func (r *reporter) run(ctx context.Context) error {
	failing, banning, ending := time.NewTicker(reportEvery), time.NewTicker(bansEvery), time.NewTicker(streamsEvery)
	defer failing.Stop()
	defer banning.Stop()
	defer ending.Stop()
	for {
		select {
		case now := <-failing.C:
			r.reportFailures(now)
		case <-banning.C:
			r.reportBans(ctx)
		case now := <-ending.C:
			r.reportStreams(ctx, now)
		case <-ctx.Done():
			return nil
		}
	}
}

// send sends an event. An empty channel means that the event belongs to none.
func (r *reporter) send(channelID string, e webhook.Event) {
	if channelID != "" {
		e.Channel = &webhook.Channel{ID: channelID, Login: r.app.directory.name(channelID)}
	}
	e.Node = r.app.node.Name()
	r.app.Webhooks.Send(e)
}

// acts reports whether this node reports what happens in a channel by itself. otherwise is the
// result if nobody knows which node acts there.
func (r *reporter) acts(channelID string, otherwise bool) bool {
	if r.app.node.Standby == nil {
		return true
	}
	if leads, known := r.app.node.Leads(channelID); known {
		return leads
	}
	return otherwise
}

// noteChange reports a change that was made on this node.
func (r *reporter) noteChange(a journal.Audit) {
	switch a.Action {
	case journal.ChannelPaused, journal.ChannelResumed:
		r.send(a.ChannelID, webhook.Event{Kind: webhook.Pause, At: a.At, Pause: &webhook.PauseChange{Paused: a.Action == journal.ChannelPaused, By: a.Author}})
	case journal.RaidSwitched:
		r.noteRaid(a)
	case journal.PolicyChanged, journal.PolicyDiscarded:
		if done, _ := journal.DetailOf[journal.PolicyDetail](a); len(done.Difference) > 0 {
			r.reportLimits(a.ChannelID, done.Mode, done.Difference, webhook.LimitsChange{Revision: done.Revision, By: a.Author})
		}
	case journal.UserBanned:
		detail, _ := journal.DetailOf[journal.BanDetail](a)
		r.noteBan(ban{at: a.At, channelID: a.ChannelID, userID: a.UserID, by: a.Author, reason: detail.Reason})
	}
}

// noteRaid reports that raid mode has begun or ended. Each node ends it by its own clock.
func (r *reporter) noteRaid(a journal.Audit) {
	raid, on := journal.DetailOf[journal.RaidDetail](a)
	r.mu.Lock()
	reported := r.raids[a.ChannelID]
	isOurs := a.Author != journal.ProgramAuthor || r.acts(a.ChannelID, on || reported)
	if on && isOurs {
		r.raids[a.ChannelID] = true
	} else {
		delete(r.raids, a.ChannelID)
	}
	r.mu.Unlock()
	if isOurs {
		r.send(a.ChannelID, webhook.Event{Kind: webhook.Raid, At: a.At, Raid: &webhook.RaidChange{On: on, Until: raid.Until, By: a.Author, Rate: raid.MessagesPerSecond}})
	}
}

// reportLimits reports that the limits of a channel have changed. An empty channel means all
// channels.
func (r *reporter) reportLimits(channelID string, mode chatguard.Mode, differences []journal.Change, change webhook.LimitsChange) {
	listed := differences[:min(len(differences), webhook.MaxChanges)]
	change.Mode, change.More, change.Changes = mode.String(), len(differences)-len(listed), []webhook.ChangedKey{}
	for _, c := range listed {
		change.Changes = append(change.Changes, webhook.ChangedKey{Key: c.Key, From: journal.ValueText(c.From), To: journal.ValueText(c.To)})
	}
	r.send(channelID, webhook.Event{Kind: webhook.Limits, Limits: &change})
}

// mostReloaded is the maximum number of channels whose changed limits are reported one by one after
// a reload.
const mostReloaded = 50

// policies returns the policies in force: that of all channels under "", and those of single
// channels by their IDs.
func (r *reporter) policies() map[string]chatguard.Policy {
	all := map[string]chatguard.Policy{"": r.app.Guard.Policy()}
	for _, id := range slices.Concat(r.app.directory.ids(), listedRooms(*r.app.directory.config())) {
		all[id] = r.app.Guard.ChannelPolicy(id)
	}
	return all
}

// reportReload reports which policies another configuration has changed. before are the policies
// that were in force.
func (r *reporter) reportReload(before map[string]chatguard.Policy) {
	after, reported := r.policies(), 0
	everywhere := policies.Diff(before[""], after[""])
	if len(everywhere) > 0 {
		r.reportLimits("", after[""].Mode, everywhere, webhook.LimitsChange{})
	}
	for _, id := range slices.Sorted(maps.Keys(after)) {
		former, known := before[id]
		if id == "" || !known || reported >= mostReloaded {
			continue
		}
		if own := policies.Diff(former, after[id]); len(own) > 0 && fmt.Sprint(own) != fmt.Sprint(everywhere) {
			r.reportLimits(id, after[id].Mode, own, webhook.LimitsChange{})
			reported++
		}
	}
}
