// Package reports tells webhooks what happens: what people change, whom the chat bans, what fails,
// and which streams end.
//
// The package must not know the chat, the dashboard or the database. It reaches them through its
// Options only.
package reports

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/webhook"
)

// The times between two reports by Run.
const (
	failuresEvery = time.Second
	bansEvery     = 5 * time.Second // so that the bans of a flood are one event
	streamsEvery  = 30 * time.Second
)

// Options configure a Reporter. Fields without a default are required.
type Options struct {
	Webhooks *webhook.Sender
	Guard    *chatguard.Guard
	Store    Store

	// Node returns this node's name. It is empty if there are no others.
	Node func() string
	// Leads reports whether this node acts in a channel. known is false if it isn't known which
	// node acts there. Nil means that only this node acts.
	Leads func(channelID string) (leads, known bool)

	// Name returns a channel's login, or a room's name.
	Name func(channelID string) string
	// Channels returns the IDs of the channels whose limits a reload may change.
	Channels func() []string
	// Troubles returns what fails now.
	Troubles func() []Trouble
	// Summary sums up a stream that has ended.
	Summary func(context.Context, journal.Stream) (webhook.StreamSummary, error)
	// StreamOver is how long after its end a stream may resume. The end is reported after this
	// time.
	StreamOver time.Duration

	Log *slog.Logger
}

// Store names who was banned, and remembers which streams were reported.
type Store interface {
	Entry(ctx context.Context, id chatguard.EntryID) (journal.Entry, bool, error)
	Person(ctx context.Context, channelID, userID string) (journal.Person, bool, error)
	SaveSetting(ctx context.Context, channelID, name, value string) (saved bool, err error)
}

// Reporter tells webhooks what happens. If several nodes share a channel, one of them reports each
// event. The node on which a person makes a change reports it. The node that acts in the channel
// reports the channel's other events. Each node reports its own failures. A Reporter is safe for
// concurrent use. Create one with New.
type Reporter struct {
	options Options

	mu   sync.Mutex
	bans []ban
	// raids has the channels in which this node has reported the beginning of raid mode.
	raids map[string]bool
	// streams has the last stream of each channel whose end may have to be reported.
	streams map[string]journal.Stream

	failures failures // used only by Run
}

// New returns a Reporter. Pass each change to NoteChange, and call Run.
func New(o Options) *Reporter {
	return &Reporter{options: o, raids: map[string]bool{}, streams: map[string]journal.Stream{}, failures: failures{}}
}

// Run reports what happens until ctx ends. Then call ReportBans once the last message is judged.
func (r *Reporter) Run(ctx context.Context) error {
	failing, banning, ending := time.NewTicker(failuresEvery), time.NewTicker(bansEvery), time.NewTicker(streamsEvery)
	defer failing.Stop()
	defer banning.Stop()
	defer ending.Stop()
	for {
		select {
		case now := <-failing.C:
			r.reportFailures(now)
		case <-banning.C:
			r.ReportBans(ctx)
		case now := <-ending.C:
			r.reportStreams(ctx, now)
		case <-ctx.Done():
			return nil
		}
	}
}

// send sends an event. An empty channel means that the event belongs to no channel.
func (r *Reporter) send(channelID string, e webhook.Event) {
	if channelID != "" {
		e.Channel = &webhook.Channel{ID: channelID, Login: r.options.Name(channelID)}
	}
	e.Node = r.options.Node()
	r.options.Webhooks.Send(e)
}

// acts reports whether this node reports the events of a channel that no person caused. otherwise
// is the result if it is not known which node acts there.
func (r *Reporter) acts(channelID string, otherwise bool) bool {
	if r.options.Leads == nil {
		return true
	}
	if leads, known := r.options.Leads(channelID); known {
		return leads
	}
	return otherwise
}

// NoteChange reports a change that was made on this node.
func (r *Reporter) NoteChange(a journal.Audit) {
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
func (r *Reporter) noteRaid(a journal.Audit) {
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
func (r *Reporter) reportLimits(channelID string, mode chatguard.Mode, differences []journal.Change, change webhook.LimitsChange) {
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

// Policies returns the policies in force: that of all channels under "", and those of single
// channels by their IDs.
func (r *Reporter) Policies() map[string]chatguard.Policy {
	all := map[string]chatguard.Policy{"": r.options.Guard.Policy()}
	for _, id := range r.options.Channels() {
		all[id] = r.options.Guard.ChannelPolicy(id)
	}
	return all
}

// ReportReload reports which policies another configuration has changed. before are the policies
// that were in force.
func (r *Reporter) ReportReload(before map[string]chatguard.Policy) {
	after, reported := r.Policies(), 0
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
