package connguard

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	here      = netip.MustParseAddr("198.51.100.1")
	there     = netip.MustParseAddr("2001:db8:0:1::1")
	elsewhere = netip.MustParseAddr("2001:db8:0:1::2") // in the /64 of there
	free      = chatguard.TokenBucketLimit("connects", 1000, time.Second)
)

// newGuard returns a Guard of a token bucket of 3. now is its clock; nil means the machine's.
func newGuard(t testing.TB, now func() time.Time) *chatguard.Guard {
	t.Helper()
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("burst", 3, time.Minute)}}, &chatguard.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func newDoor(t testing.TB, opts *Options) *Door {
	t.Helper()
	door, err := New(newGuard(t, nil), opts)
	if err != nil {
		t.Fatal(err)
	}
	return door
}

func named(id string) chatguard.User { return chatguard.User{ID: id} }

// wantEmpty fails if connections are still counted as open.
func wantEmpty(t *testing.T, d *Door) {
	t.Helper()
	if n := len(d.users.open) + len(d.addresses.open) + len(d.blocks.open); n > 0 {
		t.Errorf("open: %v, %v, %v", d.users.open, d.addresses.open, d.blocks.open)
	}
}

func TestDoor_OpenConnections(t *testing.T) {
	type visit struct {
		user string
		addr netip.Addr
		want error
	}
	for name, test := range map[string]struct {
		user, address int // MaxConnections, and per address
		visits        []visit
	}{
		"of a user":     {2, -1, []visit{{"anna", here, nil}, {"anna", there, nil}, {"anna", here, ErrConnections}, {"ben", here, nil}}},
		"of an address": {-1, 2, []visit{{"anna", here, nil}, {"ben", here, nil}, {"clara", here, ErrConnections}, {"clara", there, nil}}},
		"of a /64":      {-1, 1, []visit{{"anna", there, nil}, {"ben", elsewhere, ErrConnections}}},
		"of a /48": {-1, 1, []visit{
			{"0", block(0), nil}, {"1", block(1), nil}, {"2", block(2), nil}, {"3", block(3), nil}, {"4", block(4), nil},
			{"5", block(5), nil}, {"6", block(6), nil}, {"7", block(7), nil}, {"8", block(8), ErrConnections}, {"8", here, nil},
		}},
		"a refused user takes no place of the address": {1, 2, []visit{{"anna", here, nil}, {"anna", here, ErrConnections}, {"ben", here, nil}, {"clara", here, ErrConnections}}},
		"a refused address takes no place of the user": {1, 1, []visit{{"anna", here, nil}, {"ben", here, ErrConnections}, {"ben", there, nil}}},
		"without an address":                           {1, 1, []visit{{"anna", netip.Addr{}, nil}, {"ben", netip.Addr{}, nil}, {"ben", netip.Addr{}, ErrConnections}}},
		"mapped, and through NAT64":                    {-1, 1, []visit{{"anna", here, nil}, {"ben", netip.MustParseAddr("::ffff:198.51.100.1"), ErrConnections}, {"ben", netip.MustParseAddr("64:ff9b::198.51.100.1"), ErrConnections}}},
		"with a zone":                                  {-1, 1, []visit{{"anna", netip.MustParseAddr("fe80::1%eth0"), nil}, {"ben", netip.MustParseAddr("fe80::2%eth1"), ErrConnections}}},
		"none at all":                                  {-1, -1, []visit{{"anna", here, nil}, {"anna", here, nil}, {"anna", here, nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			door := newDoor(t, &Options{MaxConnections: test.user, MaxConnectionsPerAddress: test.address, Connects: free, ConnectsPerAddress: free})
			for range 3 { // as many places are free as before
				var open []*Session
				for _, v := range test.visits {
					session, err := door.Admit(t.Context(), named(v.user), v.addr, "lobby")
					if err != v.want {
						t.Errorf("%s from %s: %v, want %v", v.user, v.addr, err, v.want)
					}
					open = append(open, session)
				}
				for _, session := range open {
					session.Close()
					session.Close() // twice, as servers do
				}
				wantEmpty(t, door)
			}
		})
	}
}

// block returns an address of the i-th /64 of one /48.
func block(i int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("2001:db8:1:%x::1", i)) }

// A connection without a user counts for its address, and judges nothing.
func TestDoor_Accept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(t, &Options{MaxConnectionsPerAddress: 2, ConnectsPerAddress: chatguard.TokenBucketLimit("connects", 3, time.Minute)})
		pending, err := door.Accept(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(pending.User(), chatguard.User{}) || pending.ChannelID() != "" || pending.Address() != here {
			t.Errorf("%+v in %q from %s", pending.User(), pending.ChannelID(), pending.Address())
		}
		if _, err := pending.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: named("anna")}); !errors.Is(err, chatguard.ErrInvalid) {
			t.Errorf("a message before sign-in: %v", err)
		}
		second, err := door.Admit(t.Context(), named("anna"), here, "lobby")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := door.Accept(t.Context(), here); err != ErrConnections {
			t.Errorf("a third connection: %v", err)
		}
		pending.Close()
		var throttled *chatguard.ThrottledError
		if _, err := door.Accept(t.Context(), here); !errors.As(err, &throttled) || throttled.Verdict.RetryAfter != time.Minute {
			t.Errorf("a fourth attempt: %v", err)
		}
		time.Sleep(time.Minute)
		third, err := door.Accept(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		second.Close()
		third.Close()
		wantEmpty(t, door)
	})
}

// An attempt to sign in spends, whether it succeeds or not.
func TestSession_Admit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(t, &Options{MaxConnections: 1, Connects: chatguard.TokenBucketLimit("connects", 3, time.Minute)})
		first, err := door.Admit(t.Context(), named("anna"), here, "lobby")
		if err != nil {
			t.Fatal(err)
		}
		second, err := door.Accept(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Admit(t.Context(), named("anna"), "lobby"); err != ErrConnections {
			t.Errorf("with a connection elsewhere: %v", err)
		}
		first.Close()
		if err := second.Admit(t.Context(), named("anna"), "lobby"); err != nil {
			t.Errorf("once that is closed: %v", err)
		}
		for _, session := range []*Session{first, second} {
			if err := session.Admit(t.Context(), named("ben"), "lobby"); err != errNotPending {
				t.Errorf("a second Admit: %v", err)
			}
		}
		var throttled *chatguard.ThrottledError
		if _, err := door.Admit(t.Context(), named("anna"), there, "lobby"); !errors.As(err, &throttled) || throttled.Verdict.RetryAfter != time.Minute {
			t.Errorf("a fourth attempt: %v", err)
		}
		second.Close()
		wantEmpty(t, door)
	})
}

// A limit on connecting may have other numbers for a role of the Guard's policy.
func TestDoor_Roles(t *testing.T) {
	guard, err := chatguard.New(chatguard.Policy{Roles: []chatguard.Role{"sponsor"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	limit := chatguard.TokenBucketLimit("connects", 1, time.Hour)
	limit.Roles = map[chatguard.Role]chatguard.Override{"sponsor": {Burst: 2}}
	door, err := New(guard, &Options{Connects: limit})
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []struct {
		id       string
		roles    chatguard.Roles
		admitted int
	}{{"anna", nil, 1}, {"ben", chatguard.Roles{"sponsor"}, 2}} {
		admitted := 0
		for range 3 {
			if session, err := door.Admit(t.Context(), chatguard.User{ID: user.id, Roles: user.roles}, here, "lobby"); err == nil {
				admitted++
				session.Close()
			}
		}
		if admitted != user.admitted {
			t.Errorf("%s is admitted %d times, want %d", user.id, admitted, user.admitted)
		}
	}
}

// If the Guard's clock is set back, users and addresses may connect as often as before.
func TestDoor_ClockSetBack(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	door, err := New(newGuard(t, func() time.Time { return now }), &Options{
		Connects: chatguard.TokenBucketLimit("connects", 3, time.Minute), ConnectsPerAddress: chatguard.TokenBucketLimit("connects", 3, time.Minute),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []time.Duration{0, 0, 0, -30 * time.Second, time.Minute} {
		now = now.Add(step)
		session, err := door.Admit(t.Context(), named("anna"), there, "lobby")
		if throttled := step < 0; throttled != (err != nil) {
			t.Errorf("at %s: %v", now, err)
		}
		session.Close()
	}
}

// Nobody can choose the ID of visitors, who may be limited less.
func TestSession_ReservedIDs(t *testing.T) {
	for id, test := range map[string]struct{ user, visitor bool }{
		"anna": {true, false}, "addresses": {true, false}, "anonymous2": {true, false}, "Anonymous": {true, false},
		AnonymousID: {false, true}, "address:": {false, true}, AddressID(here, 64): {false, true}, AddressID(there, 64): {false, true},
		"": {false, false}, AddressID(netip.Addr{}, 64): {false, false}, strings.Repeat("7", 257): {false, false},
	} {
		door := newDoor(t, nil)
		session, err := door.Admit(t.Context(), named(id), here, "lobby")
		if (err == nil) != test.user || IsReservedID(id) != errors.Is(err, ErrReservedID) {
			t.Errorf("a user %q: %v", id, err)
		}
		session.Close()
		if session, err = door.Accept(t.Context(), here); err != nil {
			t.Fatal(err)
		}
		visitor := named(id)
		visitor.Visitor = true
		err = session.Admit(t.Context(), visitor, "lobby")
		if (err == nil) != test.visitor || IsReservedID(id) == errors.Is(err, ErrReservedID) {
			t.Errorf("a visitor %q: %v", id, err)
		}
		session.Close()
		wantEmpty(t, door)
	}
}

// Anonymous visitors are limited by address only, and visitors by address as users.
func TestSession_Visitors(t *testing.T) {
	for id, want := range map[string]error{AnonymousID: nil, AddressID(here, 64): ErrConnections} {
		door := newDoor(t, &Options{MaxConnections: 1, Connects: free, ConnectsPerAddress: free})
		for i, want := range []error{nil, want} {
			session, err := door.Accept(t.Context(), here)
			if err != nil {
				t.Fatal(err)
			}
			visitor := chatguard.User{ID: id, DisplayName: "a visitor", Visitor: true}
			if err := session.Admit(t.Context(), visitor, "lobby"); err != want {
				t.Errorf("%s, connection %d: %v", id, i, err)
			}
			if want == nil && !reflect.DeepEqual(session.User(), visitor) {
				t.Errorf("the visitor is %+v", session.User())
			}
		}
	}
}

func TestDoor_EndedContext(t *testing.T) {
	door := newDoor(t, nil)
	ended, cancel := context.WithCancel(t.Context())
	session, err := door.Accept(ended, here)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := session.Admit(ended, named("anna"), "lobby"); err != context.Canceled {
		t.Errorf("sign-in after the end: %v", err)
	}
	if session.Context().Err() != nil {
		t.Error("the session ends before its connection")
	}
	session.Close()
	if _, err := door.Admit(ended, named("anna"), here, "lobby"); err != context.Canceled {
		t.Errorf("after the end: %v", err)
	}
	wantEmpty(t, door)
}

// However many connect at once, no more than the maximum are open, and every place becomes free
// again. Meanwhile, the policy for messages changes.
func TestDoor_Concurrent(t *testing.T) {
	const users, each = 4, 2
	door := newDoor(t, &Options{MaxConnections: each, MaxConnectionsPerAddress: users*each + 1, Connects: NoLimit(), ConnectsPerAddress: NoLimit()})
	var open [users]atomic.Int64
	var admitted, mistakes atomic.Int64
	var visits sync.WaitGroup
	for i := range users * each * 2 {
		visits.Go(func() {
			for range 100 {
				user := i % users
				session, err := door.Admit(t.Context(), named(fmt.Sprint(user)), there, "lobby")
				if err != nil {
					continue
				}
				if open[user].Add(1) > each {
					mistakes.Add(1)
				}
				admitted.Add(1)
				if _, err := session.Check(t.Context(), chatguard.Message{}); err != nil {
					mistakes.Add(1)
				}
				open[user].Add(-1)
				var closing sync.WaitGroup
				closing.Go(session.Close)
				closing.Go(func() { _ = session.Admit(t.Context(), named("eve"), "lobby") })
				session.Close()
				closing.Wait()
			}
		})
	}
	for range 100 {
		if err := door.guard.SetPolicy(chatguard.DefaultPolicy()); err != nil {
			t.Error(err)
		}
	}
	visits.Wait()
	if admitted.Load() == 0 || mistakes.Load() > 0 {
		t.Errorf("%d admitted, %d of them wrong", admitted.Load(), mistakes.Load())
	}
	wantEmpty(t, door)
}

// BenchmarkDoor admits connections of one user, and releases them.
func BenchmarkDoor(b *testing.B) {
	many := chatguard.TokenBucketLimit("connects", 1<<20, time.Millisecond)
	door, ctx, user := newDoor(b, &Options{Connects: many, ConnectsPerAddress: many}), b.Context(), named("48215771")
	b.ReportAllocs()
	for b.Loop() {
		session, err := door.Admit(ctx, user, there, "lobby")
		if err != nil {
			b.Fatal(err)
		}
		session.Close()
	}
}
