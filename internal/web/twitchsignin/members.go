package twitchsignin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/web/access"
)

const (
	// sessionTime is the maximum duration of a session.
	sessionTime = 30 * 24 * time.Hour
	// mostSessions and mostOwn are the maximum numbers of sessions of all people, and of one
	// person. A further session ends the oldest one.
	mostSessions = 1000
	mostOwn      = 20
)

// Members are the people who are signed in to the dashboard. Members implements access.Members.
type Members struct {
	opts *Options
	// running is the context of requests to Twitch. It ends with Run.
	running context.Context
	stop    context.CancelFunc
	wait    sync.WaitGroup // counts goroutines that ask Twitch
	places  chan struct{}  // has a value for each of them

	mu sync.Mutex
	// sessions are by ID. mu also guards the fields of each session.
	sessions map[string]*session
	served   map[string]string // the channels when somebody signed in or was last checked
	owners   []string          // the names of the owners then
	closed   bool

	// people are the user IDs of everyone who is signed in. The map is never changed, so that a
	// look-up for each chat message needs no lock.
	people atomic.Pointer[map[string]bool]
}

// session is one sign-in of a person to the dashboard. It keeps the hash of its secret instead of
// the secret. The ID can't replace the hash, because the ID isn't secret.
type session struct {
	id      string
	hash    [sha256.Size]byte
	person  *person.Person
	account person.Account
	// channels has the person's standing in the served channels, by ID. It leaves out channels in
	// which the person has none.
	channels map[string]standing
	begun    time.Time
	used     time.Time

	confirmed time.Time // when Twitch last confirmed the channels
	due       time.Time // when Twitch is asked again
	failures  int       // how often in a row Twitch has not answered since
	// suspected is when the first change was noted that Twitch has not been asked about yet, and
	// changed is when the latest was. Both are zero if there is no such change.
	suspected, changed time.Time
	// asked is closed once the request in progress has ended; nil if there is none.
	asked chan struct{}
}

func newMembers(opts *Options) *Members {
	m := &Members{opts: opts, sessions: map[string]*session{}, places: make(chan struct{}, mostAsking)}
	m.running, m.stop = context.WithCancel(context.Background())
	m.people.Store(&map[string]bool{})
	opts.Metrics.NewGauge("chatguard_twitch_sessions", func() float64 { return float64(m.len()) })
	return m
}

func (m *Members) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions)
}

// admit gives a person a session, if they are an owner or have a standing in a served channel.
func (m *Members) admit(ctx context.Context, p *person.Person) (secret string, f *failure) {
	served := m.opts.Channels()
	account, channels, err := m.question(ctx, p, served)
	switch {
	case err != nil:
		f = failureOf(err)
	case len(channels) > 0 || m.opts.Owners.Has(account.ID):
	case len(served) == 0:
		f = &tooEarly
	default:
		f = noModerator(hostile.Detail(account.Login))
	}
	if f != nil {
		m.forget(p)
		return "", f
	}
	secret, now := access.NewMemberSession(), m.opts.now()
	m.add(served, m.opts.Owners.Names(), &session{
		id: access.SessionID(secret), hash: sha256.Sum256([]byte(secret)), person: p, account: account, channels: channels, begun: now, used: now, confirmed: now, due: nextCheck(now),
	})
	m.opts.Log.Info("signed in with Twitch", "login", hostile.Detail(account.Login), "id", account.ID, "channels", m.names(channels))
	return secret, nil
}

// add adds a session. served and owners are the channels and owners when Twitch was asked. If there
// are too many sessions, it ends the oldest ones.
func (m *Members) add(served map[string]string, owners []string, added *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noteServed(served, owners, added.begun)
	own := func(s *session) bool { return s.account.ID == added.account.ID }
	m.endOldest(mostOwn, own)
	m.endOldest(mostSessions, func(*session) bool { return true })
	m.sessions[added.id] = added
	m.notePeople()
}

// endOldest ends the oldest of the selected sessions, if their number has reached most. The caller
// holds mu.
func (m *Members) endOldest(most int, which func(*session) bool) {
	selected := slices.DeleteFunc(slices.Collect(maps.Values(m.sessions)), func(s *session) bool { return !which(s) })
	if len(selected) >= most {
		oldest := slices.MinFunc(selected, func(a, b *session) int { return cmp.Or(a.begun.Compare(b.begun), cmp.Compare(a.id, b.id)) })
		delete(m.sessions, oldest.id)
	}
}

// remove ends a session. It returns nil if the session has ended already. The caller holds mu.
func (m *Members) remove(id string) *session {
	ended := m.sessions[id]
	delete(m.sessions, id)
	m.notePeople()
	return ended
}

// notePeople publishes who is signed in. The caller holds mu.
func (m *Members) notePeople() {
	people := map[string]bool{}
	for _, s := range m.sessions {
		people[s.account.ID] = true
	}
	m.people.Store(&people)
}

// Holder returns the holder of a session, as access.Members requires. It never waits for Twitch. A
// session ends if Twitch doesn't say for too long what its holder may do.
func (m *Members) Holder(_ context.Context, secret string) (who auth.Identity, ok bool, err error) {
	h, ok := m.look(secret)
	return h.who, ok, nil
}

// holder describes the holder of a session at one moment.
type holder struct {
	who       auth.Identity
	suspected bool            // a change is known that Twitch has not been asked about
	asked     <-chan struct{} // closed once the request in progress has ended; nil if there is none
}

// look returns the holder of a session, and asks Twitch in the background if that is due. It
// returns false if the session has ended.
func (m *Members) look(secret string) (h holder, ok bool) {
	now := m.opts.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(secret)
	switch {
	case found == nil:
		return holder{}, false
	case found.isOver(now):
		m.expire(found)
		return holder{}, false
	}
	found.used = now.Truncate(time.Minute)
	if !found.suspected.IsZero() || !now.Before(found.due) {
		m.ask(found, now)
	}
	return holder{m.identity(found), !found.suspected.IsZero(), found.asked}, true
}

// find returns the session with a secret, or nil. The caller holds mu.
func (m *Members) find(secret string) *session {
	found, hash := m.sessions[access.SessionID(secret)], sha256.Sum256([]byte(secret))
	if found == nil || subtle.ConstantTimeCompare(found.hash[:], hash[:]) != 1 {
		return nil
	}
	return found
}

// End ends a session, and revokes its token.
func (m *Members) End(secret string) {
	m.mu.Lock()
	found := m.find(secret)
	m.mu.Unlock()
	if found != nil {
		m.EndByID(found.id)
	}
}

// EndByID ends the session with an ID, and revokes its token. It returns false if there is none.
func (m *Members) EndByID(id string) bool {
	m.mu.Lock()
	ended := m.remove(id)
	m.mu.Unlock()
	if ended == nil {
		return false
	}
	m.forget(ended.person)
	return true
}

// List returns the sessions, oldest first.
func (m *Members) List() []auth.Session {
	now := m.opts.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []auth.Session
	for _, of := range m.sessions {
		if !of.isOver(now) {
			list = append(list, auth.Session{Identity: m.identity(of), ID: of.id, Begun: of.begun, Expires: of.begun.Add(sessionTime), Used: of.used})
		}
	}
	slices.SortFunc(list, func(a, b auth.Session) int { return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.ID, b.ID)) })
	return list
}

// forget revokes a person's token in the background. If too many requests are in progress, the
// token is only dropped, and expires by itself.
func (m *Members) forget(p *person.Person) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked(p)
}

// forgetLocked is forget for a caller that holds mu.
func (m *Members) forgetLocked(p *person.Person) {
	m.start(func(ctx context.Context) {
		if err := p.Leave(ctx); err != nil && !errors.Is(err, context.Canceled) {
			m.opts.Log.Debug("a token of a person could not be revoked at Twitch, and expires by itself", "error", err)
		}
	})
}

// start runs a request to Twitch in the background, for at most the duration patience. It returns
// false if too many are in progress, or if Run has ended. The caller holds mu.
func (m *Members) start(do func(context.Context)) bool {
	if m.closed {
		return false
	}
	select {
	case m.places <- struct{}{}:
	default:
		return false
	}
	m.wait.Go(func() {
		defer func() { <-m.places }()
		ctx, stop := context.WithTimeout(m.running, patience)
		defer stop()
		do(ctx)
	})
	return true
}
