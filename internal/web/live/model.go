// Package live is what the dashboard shows now: throttled users, message rates, and the state of
// policies, connections, the database and the shared store. Its live feed notifies open dashboards
// of each change. It must not know who has access, nor what other requests do.
package live

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/roles"
)

// Options configures a Model. Fields without a default are required.
type Options struct {
	Guard    *chatguard.Guard
	Policies *policies.Policies
	Controls *control.Controls // switches of channels; nil means that there are none
	Records  Records

	// Channels returns the served channels; the dashboard opens with the first. The Model adds the
	// state of their switches.
	Channels     func() []Channel
	Unidentified func() []Unidentified   // channels whose IDs aren't known yet; nil means none
	Connections  func() []Connection     // nil means none
	Database     func() journal.Database // nil means none

	// ColorOf returns the color of a user's name in a channel, such as "#1e90ff", while the Guard's
	// observers get a message of that user. It must not wait. Nil means that no colors are known.
	ColorOf func(channelID, userID string) string

	// Repeats returns how often the text of a new journal entry's message was written. It must not
	// wait. Nil means that it is unknown.
	Repeats func(chatguard.EntryID) journal.Repeats

	// Shared returns how this node shares limits, and whether the shared store answers. It is
	// called every second and must not wait. Nil means that this node is alone.
	Shared func() Shared

	// PublicURL is an address whose pages may open a live feed besides those of the request's own
	// host. It may be nil.
	PublicURL *url.URL
	Mounted   bool // whether the dashboard is part of another site

	Metrics *metrics.Set
	Log     *slog.Logger
}

// Records reads records from before the start.
type Records interface {
	// Minutes calls each for every minute of every channel between since and until, oldest first.
	// It leaves out minutes without messages.
	Minutes(ctx context.Context, since, until time.Time, each func(journal.Minute) error) error
	// Person returns a user as last seen in a channel; ok is false if they never were.
	Person(ctx context.Context, channelID, userID string) (p journal.Person, ok bool, err error)
}

// Model is what the dashboard shows now. It is safe for concurrent use. Create one with New.
type Model struct {
	sources
	*sockets
	opts  *Options
	began time.Time // when counting began
	board *board
	said  transcript

	silencing   sync.Mutex         // held while the board gets a user's timeout or ban
	revised     pendingSet[string] // channels to be judged again
	switched    pendingSet[string] // channels to be judged again and announced
	channelsNew atomic.Bool        // what channels' chats say of them is to be announced
	unnamed     pendingSet[rowKey] // users whose names and strikes are to be read
	remembering sync.WaitGroup     // goroutines that read records
}

// New returns a Model that is ready to receive verdicts.
func New(opts Options) *Model {
	now := opts.Guard.Now()
	if opts.ColorOf == nil {
		opts.ColorOf = func(_, _ string) string { return "" }
	}
	m := &Model{sources: sources{&opts, newTallies(opts.Metrics, now), &modeAuthors{of: map[string]modesChange{}}}, opts: &opts, began: now, board: newBoard(), unnamed: pendingSet[rowKey]{added: make(chan struct{}, 1)}}
	m.board.isText = func(channel, limit string) bool { return inner.IsText(inner.Of(opts.Guard).Limit(channel, limit).Per) }
	m.sockets = newSockets(&opts, newFeed(now, frames{m.changeFrames, m.statusFrame, m.snapshotFrame}))
	m.said.expire(now)
	m.register(opts.Metrics)
	return m
}

// Update keeps the Model up to date until ctx ends. Call it once, and Close afterwards.
func (m *Model) Update(ctx context.Context) {
	m.remembering.Go(func() { m.loadRates(ctx) })
	m.remembering.Go(func() { m.recallSilences(ctx) })
	m.remembering.Go(func() { m.nameUsers(ctx) })
	m.pump(ctx)
}

// Close closes the live feeds and waits for them. The context of Update must have ended.
func (m *Model) Close() {
	m.sockets.close()
	m.remembering.Wait()
}

// Feeds returns the number of open live feeds.
func (m *Model) Feeds() int { return m.feed.len() }

// LastThrottled returns a user's last throttled message as they would write it again now, without
// the text, and how often the text was written. The message has no roles and no print if the user
// is not on the board.
func (m *Model) LastThrottled(channel, user string) (again chatguard.Message, repeats journal.Repeats) {
	r, _ := m.board.find(channel, user)
	return r.again(m.opts.Guard.Now()), r.Repeats
}

// Rates returns how busy a channel was over the named span: "quarter" of an hour, "hour", "day" or
// "stream", which is the channel's running stream. An empty channel means all channels, and an
// empty span means "hour". ok is false if there is no such span.
func (m *Model) Rates(name, channel string) (over RatesOver, ok bool) {
	if name == "stream" {
		began := m.liveSince(channel)
		if began.IsZero() {
			return over, false
		}
		return m.tallies.ratesOver(m.tallies.since(began), channel), true
	}
	p, ok := periods[cmp.Or(name, "hour")]
	if !ok {
		return over, false
	}
	return m.tallies.ratesOver(p, channel), true
}

// BusyChannels returns the messages per second of each channel that has had verdicts since the
// start, over the last 10 seconds.
func (m *Model) BusyChannels() map[string]float64 { return m.tallies.busy() }

// Observe records a verdict. It can be used as chatguard.Options.Observer, because it never waits
// for disk, network or a reader. For an allowed message of a user who is not throttled, it only
// updates counters and stores the text for a short time.
func (m *Model) Observe(msg chatguard.Message, v chatguard.Verdict) {
	m.tallies.count(&v, msg.User.Roles.Has(roles.FirstTimer))
	color := m.opts.ColorOf(v.ChannelID, v.UserID)
	m.said.add(&msg, color, &v)
	if v.Throttled() {
		now := m.opts.Guard.Now()
		e := journal.NewEntry(msg, v)
		if m.opts.Repeats != nil {
			e.Repeats = m.opts.Repeats(e.ID)
		}
		if print := v.Print; !print.IsZero() {
			msg.Print = &print
		}
		m.board.put(e, color, msg, now)
		m.assumeSilence(&e, now)
	} else {
		m.board.allow(v.ChannelID, v.UserID, v.At)
	}
}

// Around returns at most n messages of a channel before the message of a journal entry, that
// message, and at most n after it, oldest first. An entry of 0 matches any message, and an empty
// user matches every user. If several messages match, the last one counts. Around returns none if
// there is no such message in the last minutes.
func (m *Model) Around(channel, user string, entry chatguard.EntryID, n int) []Said {
	m.said.expire(m.opts.Guard.Now())
	return m.said.around(channel, n, func(r record) bool { return (entry == 0 || r.entry() == entry) && (user == "" || r.isOf(user)) })
}

// Heard returns the IDs of the channels that have had verdicts since the start, in sorted order. It
// returns at most the first thousand channels.
func (m *Model) Heard() []string { return m.tallies.channels() }

// Report records the outcome of the action on a throttled message. It never blocks.
func (m *Model) Report(o journal.Outcome) {
	m.tallies.countOutcome(o)
	m.board.report(o)
}

// Preload puts on the board the users of the journal's entries whom the Guard still throttles, and
// those who were throttled within Recent. It is meant for the start.
func (m *Model) Preload(entries []journal.Entry) {
	now := m.opts.Guard.Now()
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b journal.Entry) int { return cmp.Compare(a.ID, b.ID) })
	for i := range entries {
		m.board.put(entries[i], "", chatguard.Message{}, now)
		m.assumeSilence(&entries[i], now)
	}
	m.judgeAgain("", now)
}

// Forget removes a user from the board, so that nobody is shown the user's last messages any more.
func (m *Model) Forget(userID string) { m.board.forget(userID) }

// loadRates reads from the store how busy the channels were before the start. It cannot distinguish
// quiet times from times when chatguard was not running, because neither has messages.
func (m *Model) loadRates(ctx context.Context) {
	day := rings[minutes]
	err := m.opts.Records.Minutes(ctx, m.began.Add(-time.Duration(day.steps)*day.step), m.began, func(minute journal.Minute) error {
		m.tallies.remember(minute)
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		m.opts.Log.Warn("the rates from before the start can't be read", "error", err)
	}
}
