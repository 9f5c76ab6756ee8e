package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/signin"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/roles"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/check"
	"github.com/chatguard/chatguard/internal/web/live"
)

const (
	channelID = "7"
	token     = "a-token-that-only-the-owner-knows"
)

// dashboard is a Server on a loopback port with a real Guard and a real database. It also has the
// helpers that tests need.
type dashboard struct {
	tested
	server  *Server
	guard   *chatguard.Guard
	control *control.Controls
	store   *testStore
	client  *http.Client
	address string // host:port
	stop    func() // stops the Server and waits for it
	// stopSettling stops the notifications of saved policies.
	stopSettling func()
	opts         Options

	chat     actsChat
	database string       // path of the database file
	shared   *sharedStore // nil if the Guard is alone
	adjust   []func(*Options)

	recalling atomic.Bool  // messages count as sent before the start
	lifts     atomic.Int32 // number of timeouts lifted
	lifting   failure      // of lifting a timeout

	mu      sync.Mutex
	ahead   time.Duration // offset of the clock
	stopped time.Time     // when it was stopped; zero while it runs
}

// tested is the test that a dashboard belongs to. A window embeds a dashboard and a test of its
// own; its own test takes precedence.
type tested struct{ testing.TB }

// dash runs a dashboard until the test ends. Its channel enforces a burst of 3 messages, refilled
// by one every 10 minutes.
func dash(t testing.TB, adjust ...func(*Options)) *dashboard {
	t.Helper()
	return dashSharing(t, nil, adjust...)
}

// dashSharing is dash with a Guard that shares limits over a store.
func dashSharing(t testing.TB, shared *sharedStore, adjust ...func(*Options)) *dashboard {
	t.Helper()
	runParallel(t)
	d := &dashboard{shared: shared, adjust: adjust}
	if !clockStart.IsZero() {
		d.ahead = time.Until(clockStart)
	}
	return run(t, d)
}

// dashAt is dash with a clock that stands still; only advance moves it.
func dashAt(t testing.TB, now time.Time, adjust ...func(*Options)) *dashboard {
	t.Helper()
	runParallel(t)
	return run(t, &dashboard{stopped: now, adjust: adjust})
}

// run runs a dashboard until the test ends.
func run(t testing.TB, d *dashboard) *dashboard {
	d.tested, d.client, d.database = tested{t}, &http.Client{Transport: &http.Transport{}}, newDatabase(t)
	d.begin()
	t.Cleanup(d.end)
	return d
}

// clockStart is when a dashboard begins, so that no test depends on the time of day. If it is zero,
// it begins at the real time, as the browser's page does.
var clockStart = time.Date(2026, 3, 5, 20, 7, 30, 0, time.UTC)

// runParallel makes a test run in parallel, because it mostly waits for a page.
func runParallel(t testing.TB) {
	test, isTest := t.(*testing.T)
	if _, again := beside.LoadOrStore(t, true); isTest && !again {
		test.Parallel()
	}
}

// runAlone keeps a test from running in parallel. It must be called first.
func runAlone(t *testing.T) { beside.Store(t, true) }

// beside contains the tests for which runParallel or runAlone has decided whether they run in
// parallel.
var beside sync.Map

// begin does what the process does at its start.
func (d *dashboard) begin() {
	d.Helper()
	base := config.DefaultPolicy()
	base.Mode, base.Limits[0].Refill = chatguard.ModeEnforce, 10*time.Minute
	// Only flush writes pending messages, after the first flush.
	d.store = openStore(d.TB, d.database, &persist.Options{FlushInterval: time.Hour, Now: d.now, Logger: quiet})
	var err error
	guarding := &chatguard.Options{Now: d.now, Observer: d.observe}
	if s := d.shared; s != nil {
		s.now, guarding.Shared, guarding.Now = d.now, s, nil
	}
	if d.guard, err = chatguard.New(base, guarding); err != nil {
		d.Fatal(err)
	}
	ctx := context.Background()
	policies := policies.New(policies.Options{Guard: d.guard, Store: d.store, Base: guardConfig{d.guard}})
	err = policies.Restore(ctx)
	kept, settingsErr := d.store.Settings(ctx)
	waiting, journalErr := d.store.Throttled(ctx, d.now().Add(-live.Recent), live.MaxRows)
	if err := errors.Join(err, settingsErr, journalErr); err != nil {
		d.Fatal(err)
	}
	d.store.run(d.TB, d.guard)
	d.control = control.New(control.Options{Guard: d.guard, Policies: policies, Store: d.store, Settings: control.Settings{Raid: raid, Notices: control.Notices{Cooldown: control.Duration(time.Minute)}, Timeouts: control.UsualTimeouts, Moderators: auth.Moderate}})
	d.control.Restore(kept)
	d.control.Join(control.Chat{Lift: d.lift, Acts: d.chat.acts(d.now)})
	d.chat.changed = func(channelID, userID string) { currentServer{d}.Silenced(channelID, userID, "") }
	policies.Followers.Follow(currentServer{d})
	policies.Followers.Watch(func(a journal.Audit) { d.server.Made(a) })
	opts := Options{
		Live: live.Options{
			Guard: d.guard, Policies: policies, Controls: d.control,
			Channels:    func() []live.Channel { return []live.Channel{{ID: channelID, Login: "somechannel"}} },
			Connections: func() []live.Connection { return []live.Connection{{Name: "Twitch", State: live.Connected}} },
			Database:    d.store.database,
			Log:         quiet,
		},
		Access: access.Options{
			Site:     access.Site{Listen: "127.0.0.1:0", Token: token},
			Sessions: d.store, WrongCode: signin.ErrCode, Now: d.now, Log: quiet,
		},
		Check: check.Options{Guard: d.guard},
		Store: d.store, Grants: d.store, Record: d.store.Record,
	}
	for _, f := range d.adjust {
		f(&opts)
	}
	opts.Live.Records = opts.Store
	d.start(opts)
	d.server.Preload(waiting)
	settling, cancel := context.WithCancel(ctx)
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		policies.Run(settling, d.store.database)
	}()
	d.stopSettling = func() { cancel(); <-settled }
}

// guardConfig is a configuration with the Guard's policy for all channels.
type guardConfig struct{ guard *chatguard.Guard }

func (s guardConfig) Default() chatguard.Policy      { return s.guard.Policy() }
func (s guardConfig) Policy(string) chatguard.Policy { return s.guard.Policy() }
func (guardConfig) Channels() []string               { return nil }

// currentServer notifies the server that is running now.
type currentServer struct{ *dashboard }

func (f currentServer) Revised(r journal.Revision)       { f.server.Revised(r) }
func (f currentServer) Saved(channelID string)           { f.server.Saved(channelID) }
func (f currentServer) Reloaded()                        { f.server.Reloaded() }
func (f currentServer) Changed(channelID string)         { f.server.Changed(channelID) }
func (f currentServer) Amended(channelID, userID string) { f.server.Amended(channelID, userID) }
func (f currentServer) Silenced(channelID, userID, login string) {
	f.server.Silenced(channelID, userID, login)
}

// lift ends a timeout on the platform.
func (d *dashboard) lift(context.Context, string, string) error {
	err := d.lifting.err()
	if err == nil {
		d.lifts.Add(1)
	}
	return err
}

// end does what the process does at its end.
func (d *dashboard) end() {
	d.client.CloseIdleConnections()
	d.stop()
	d.stopSettling()
	d.store.close()
}

// restart starts another process with the same database and address.
func (d *dashboard) restart() {
	d.Helper()
	d.end()
	d.begin()
}

// quiet logs nothing.
var quiet = slog.New(slog.DiscardHandler)

// observe passes a verdict to the store. It also passes it to the server, except while recordPast
// is running.
func (d *dashboard) observe(m chatguard.Message, v chatguard.Verdict) {
	d.store.Observe(m, v)
	if !d.recalling.Load() {
		d.server.Observe(m, v)
	}
}

// raid is the overlay of raid mode.
var raid = control.Raid{
	Lasts: control.Duration(10 * time.Minute), Burst: 20, Refill: control.Duration(time.Second),
	FirstTimerBurst: 1, FirstTimerRefill: control.Duration(time.Hour),
}

// crowd is a limit that everyone in a channel shares.
var crowd = chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 600, Every: time.Minute}

// everywhere is a limit across all channels.
var everywhere = chatguard.Limit{
	Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 1000, Every: 24 * time.Hour,
	Roles: map[chatguard.Role]chatguard.Override{roles.VIP: {Messages: 2000}},
}

// everyAlgorithm has limits of the algorithms that the tests' policy lacks, with every setting that
// a limit can have.
var everyAlgorithm = []chatguard.Limit{
	{
		Name: "slow", Algorithm: chatguard.LeakyBucket, Every: 1500 * time.Millisecond, Queue: 3,
		Roles: map[chatguard.Role]chatguard.Override{roles.Subscriber: {Queue: 9}, roles.VIP: {}},
	},
	{Name: "unqueued", Algorithm: chatguard.LeakyBucket, Every: 90 * time.Minute, Mode: chatguard.ModeObserve},
	crowd,
	{Name: "evening", Algorithm: chatguard.UserWindow, Messages: 100, Every: 12 * time.Hour, CountThrottled: true},
	{Name: "month", Algorithm: chatguard.SlidingWindow, Messages: 6_000_000, Every: 720 * time.Hour, Mode: chatguard.ModeObserve},
	{Name: "exact", Algorithm: chatguard.SlidingLog, Messages: 20, Every: 90 * time.Second},
	everywhere,
}

// addLimits returns an option that adds limits to the configuration's policy.
func addLimits(t testing.TB, limits ...chatguard.Limit) func(*Options) {
	return func(o *Options) {
		t.Helper()
		base := o.Live.Guard.Policy()
		base.Limits = append(base.Limits, limits...)
		if err := inner.At(o.Live.Guard, time.Now()).SetPolicy(base); err != nil {
			t.Fatal(err)
		}
	}
}

// start runs a new Server. If another Server ran before, the new one has the same address.
func (d *dashboard) start(opts Options) {
	d.Helper()
	fresh := opts
	if fresh.Live.Metrics == nil {
		fresh.Live.Metrics = metrics.NewSet()
	}
	var err error
	if d.server, err = New(fresh); err != nil {
		d.Fatal(err)
	}
	if d.address != "" {
		opts.Access.Site.Listen = d.address
	}
	listener, err := opts.Access.Site.Open()
	if err != nil {
		d.Fatal(err)
	}
	d.address, d.opts = listener.Addr().String(), opts
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.server.Run(ctx, listener) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			d.Errorf("Run: %v", err)
		}
	})
}

func (d *dashboard) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped.IsZero() {
		return d.stopped.Add(d.ahead)
	}
	return time.Now().Add(d.ahead)
}

// stopClock stops the clock; only advance moves it.
func (d *dashboard) stopClock() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = time.Now()
}

// advance moves every clock forward.
func (d *dashboard) advance(length time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ahead += length
}

// say lets a user write the given number of messages now.
func (d *dashboard) say(user chatguard.User, times int) (last chatguard.Verdict) {
	d.Helper()
	for range times {
		last = d.sayAt(user, d.now())
	}
	return last
}

// recordPast records messages of a user at those times, as if they were sent before the Server
// started. They are in the database and the Guard, but neither in the counters nor on the board.
// They stay pending until a change is saved or the test calls flush. Call recordPast in the order
// of the times, and before anyone writes now.
func (d *dashboard) recordPast(user chatguard.User, times ...time.Time) {
	d.Helper()
	d.flush() // the first flush may not have begun
	d.recalling.Store(true)
	defer d.recalling.Store(false)
	for _, at := range times {
		d.sayAt(user, at)
	}
}

func (d *dashboard) sayAt(user chatguard.User, at time.Time) chatguard.Verdict {
	d.Helper()
	v, err := d.guard.Check(context.Background(), chatguard.Message{
		ID: rand.Text(), ChannelID: channelID, User: user, Text: "hello everyone", SentAt: at,
	})
	if err != nil {
		d.Fatal(err)
	}
	return v
}

// flush waits until everything is written.
func (d *dashboard) flush() {
	d.Helper()
	if saved, err := d.store.Store.SaveSetting(context.Background(), channelID, "flushed", rand.Text()); !saved || err != nil {
		d.Fatalf("written: %v, %v", saved, err)
	}
}

// asOwner adds the owner's token to a request.
func asOwner(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }

// answer is the response to a request.
type answer struct {
	*http.Response
	body []byte
}

// do sends a request with an optional JSON body and checks both the request and the answer against
// the API's description.
func (d *dashboard) do(method, path string, body any, adjust ...func(*http.Request)) answer {
	d.Helper()
	var content io.Reader
	var sent []byte
	var err error
	if body != nil {
		if sent, err = json.Marshal(body); err != nil {
			d.Fatal(err)
		}
		content = bytes.NewReader(sent)
	}
	r, err := http.NewRequest(method, "http://"+d.address+path, content)
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, f := range adjust {
		f(r)
	}
	response, err := d.client.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		d.Fatal(err)
	}
	a := answer{response, data}
	d.checkContract(r, sent, a)
	return a
}

// decode decodes a successful answer.
func decode[T any](t testing.TB, a answer) T {
	t.Helper()
	var value T
	if a.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s: %s", a.Request.Method, a.Request.URL.Path, a.Status, a.body)
	}
	if err := json.Unmarshal(a.body, &value); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return value
}

// throttledUsers returns the users who are throttled now.
func (d *dashboard) throttledUsers() []live.Throttled {
	d.Helper()
	return decode[throttledUsers](d, d.do("GET", "/api/v1/throttled?channel="+channelID, nil, asOwner)).Users
}

var spammer = chatguard.User{ID: "42", Login: "spammer", DisplayName: "Spammer"}
