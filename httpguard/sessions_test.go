package httpguard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// quiet is the log of servers whose handlers panic on purpose.
var quiet = log.New(io.Discard, "", 0)

// visitor makes requests without a socket, at a time of its own.
type visitor struct {
	t       *testing.T
	handler http.Handler
	now     time.Time
	asked   int    // number of calls of identify
	during  func() // called in the handler
}

// newVisitor returns a visitor of a middleware that takes the user from a header if identify is
// nil.
func newVisitor(t *testing.T, identify func(*http.Request) (chatguard.User, error), limits connguard.Options, opts SessionOptions) *visitor {
	t.Helper()
	v := &visitor{t: t, now: monday, during: func() {}}
	// httptest's addresses
	opts.Addresses = &AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}
	if identify == nil {
		identify = func(r *http.Request) (chatguard.User, error) {
			v.asked++
			return userFromHeader(r)
		}
	}
	guard := newEnforcingGuard(t, nil, &chatguard.Options{Now: func() time.Time { return v.now }})
	middleware, err := Sessions(mustDoor(t, guard, limits), identify, &opts)
	if err != nil {
		t.Fatal(err)
	}
	v.handler = middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { v.during() }))
	return v
}

func (v *visitor) visit(user, addr string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-User", user)
	r.Header.Set("X-Forwarded-For", addr)
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r)
	return w
}

// check makes a visit and fails on another status or Retry-After.
func (v *visitor) check(user, addr string, status int, retry string) {
	v.t.Helper()
	if w := v.visit(user, addr); w.Code != status || w.Header().Get("Retry-After") != retry {
		v.t.Errorf("%s from %s: %d, Retry-After %q, want %d, %q", user, addr, w.Code, w.Header().Get("Retry-After"), status, retry)
	}
}

func TestSessions_ConnectsPerUser(t *testing.T) {
	v := newVisitor(t, nil, connguard.Options{}, SessionOptions{})
	for range 10 {
		v.check("anna", "198.51.100.1", 200, "")
	}
	v.check("anna", "198.51.100.2", 429, "2")
	v.check("ben", "198.51.100.2", 200, "")
	v.now = v.now.Add(2*time.Second - 1)
	v.check("anna", "198.51.100.2", 429, "1")
	v.now = v.now.Add(1)
	v.check("anna", "198.51.100.2", 200, "")
	v.check("anna", "198.51.100.2", 429, "2")
	if body := v.visit("anna", "198.51.100.2").Body.String(); body != "Too many connection attempts. Try again in 2 s.\n" {
		t.Errorf("answer %q", body)
	}
}

// If the Guard's clock is set back, users may connect as often as before.
func TestSessions_ClockSetBack(t *testing.T) {
	v := newVisitor(t, nil, connguard.Options{}, SessionOptions{})
	for range 10 {
		v.check("anna", "198.51.100.1", 200, "")
	}
	v.check("anna", "198.51.100.1", 429, "2")
	v.now = v.now.Add(-30 * time.Second)
	v.check("anna", "198.51.100.1", 429, "2")
	v.now = v.now.Add(2 * time.Second)
	v.check("anna", "198.51.100.1", 200, "")
	v.check("anna", "198.51.100.1", 429, "2")
}

func TestSessions_ConnectsPerAddress(t *testing.T) {
	v := newVisitor(t, nil, connguard.Options{}, SessionOptions{})
	for i := range 40 {
		v.check(string(rune('a'+i)), "2001:db8:0:1::1", 200, "")
	}
	v.check("anna", "2001:db8:0:1::2", 429, "1") // the same /64
	if v.asked != 40 {
		t.Errorf("who connects was asked for %d times: guessing isn't limited", v.asked)
	}
	v.check("anna", "2001:db8:0:2::1", 200, "")
	v.now = v.now.Add(500 * time.Millisecond)
	v.check("anna", "2001:db8:0:1::3", 200, "")
	v.check("anna", "2001:db8:0:1::3", 429, "1")
}

func TestSessions_ConnectsPerBlock(t *testing.T) {
	v := newVisitor(t, nil, connguard.Options{}, SessionOptions{})
	for i := range 320 { // each from its own /64
		v.check(fmt.Sprint("user", i), fmt.Sprintf("2001:db8:0:%x::1", i), 200, "")
	}
	v.check("anna", "2001:db8:0:ffff::1", 429, "1")
	v.check("anna", "2001:db8:1::1", 200, "") // another /48
	v.check("anna", "198.51.100.1", 200, "")
	v.now = v.now.Add(500 * time.Millisecond / 8)
	v.check("anna", "2001:db8:0:ffff::1", 200, "")
	v.check("anna", "2001:db8:0:ffff::1", 429, "1")
}

func TestSessions_OpenConnectionsPerBlock(t *testing.T) {
	free := chatguard.Limit{Algorithm: chatguard.TokenBucket, Burst: 1000, Refill: time.Second}
	v := newVisitor(t, nil, connguard.Options{MaxConnectionsPerAddress: 1, Connects: free, ConnectsPerAddress: free}, SessionOptions{})
	var visits [][2]string
	want := slices.Repeat([]int{200}, 8)
	for i := range 9 {
		visits = append(visits, [2]string{strconv.Itoa(i), fmt.Sprintf("2001:db8:0:%x::1", i)})
	}
	visits, want = append(visits, [2]string{"anna", "2001:db8:1::1"}), append(want, 429, 200)
	for range 2 { // the places are free again
		if got := v.visitTogether(visits...); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestSessions_GuessingIsLimited(t *testing.T) {
	nobody := func(*http.Request) (chatguard.User, error) { return chatguard.User{}, ErrNobody }
	v := newVisitor(t, nobody, connguard.Options{
		ConnectsPerAddress: chatguard.Limit{Algorithm: chatguard.TokenBucket, Burst: 2, Refill: 90 * time.Second},
	}, SessionOptions{})
	for _, want := range []int{401, 401, 429} {
		if w := v.visit("", "198.51.100.1"); w.Code != want {
			t.Errorf("%d, want %d", w.Code, want)
		}
	}
}

// A user who can choose their ID can't choose AnonymousID, which is limited by address only, or the
// ID of a visitor from another address.
func TestSessions_ReservedIDs(t *testing.T) {
	address := ByAddress(&AddressOptions{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}) // httptest's addresses
	renamed := func(way func(*http.Request) (chatguard.User, error)) func(*http.Request) (chatguard.User, error) {
		return func(r *http.Request) (chatguard.User, error) {
			user, err := way(r)
			user.DisplayName = "a guest"
			return user, err
		}
	}
	byKey := ByKey("X-User", func(name string) (chatguard.User, bool) { return chatguard.User{ID: name}, name != "unknown" })
	for _, test := range []struct {
		name     string
		identify func(*http.Request) (chatguard.User, error)
		user     string
		status   int
	}{
		{"a name", userFromHeader, "anna", 200},
		{"a name that begins alike", userFromHeader, "addresses", 200},
		{"a name that ends alike", userFromHeader, "anonymous2", 200},
		{"anonymous by name", userFromHeader, connguard.AnonymousID, 500},
		{"an address by name", userFromHeader, "address:198.51.100.1", 500},
		{"another's address by name", userFromHeader, "address:203.0.113.9", 500},
		{"no address by name", userFromHeader, "address:", 500},
		{"anonymous", Anonymous, "", 200},
		{"an address", address, "", 200},
		{"anonymous, with a name to show", renamed(Anonymous), "", 200},
		{"an address, with a name to show", renamed(address), "", 200},
		{"the first of several, by address", FirstOf(byKey, address), "unknown", 200},
		{"the first of several, anonymous", FirstOf(byKey, Anonymous), "unknown", 200},
		{"the first of several, by a name", FirstOf(byKey, address), "address:198.51.100.1", 500},
		{"a visitor with a name as ID", func(r *http.Request) (chatguard.User, error) {
			user, err := address(r)
			user.ID = r.Header.Get("X-User")
			return user, err
		}, "anna", 500},
		{"an address of the program's own", func(r *http.Request) (chatguard.User, error) {
			return chatguard.User{ID: r.Header.Get("X-User"), Visitor: true}, nil
		}, "address:203.0.113.9", 200},
		{"refused before", func(r *http.Request) (chatguard.User, error) {
			if _, err := address(r); err != nil {
				return chatguard.User{}, err
			}
			return userFromHeader(r)
		}, connguard.AnonymousID, 500},
	} {
		var told error
		v := newVisitor(t, test.identify, connguard.Options{}, SessionOptions{Refused: func(w http.ResponseWriter, _ *http.Request, err error) {
			told = err
			w.WriteHeader(http.StatusInternalServerError)
		}, Logger: slog.New(slog.DiscardHandler)})
		if got := v.visit(test.user, "198.51.100.1").Code; got != test.status || (got == 500) != errors.Is(told, connguard.ErrReservedID) {
			t.Errorf("%s: %d, %v; want %d", test.name, got, told, test.status)
		}
	}
}

// The handler can still read a form that identify has already read from the request's body.
func TestIdentify_ReadsTheForm(t *testing.T) {
	guard := newEnforcingGuard(t, nil, nil)
	middleware, err := Sessions(mustDoor(t, guard, connguard.Options{}), func(r *http.Request) (chatguard.User, error) { return chatguard.User{ID: r.FormValue("name")}, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	var name string
	handler := middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { name = r.FormValue("name") }))
	r := httptest.NewRequest("POST", "/", strings.NewReader("name=anna"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	if name != "anna" {
		t.Errorf("the handler reads %q", name)
	}
}

// visitTogether makes overlapping visits: an admitted one lasts until the last one is answered. It
// returns the status of each answer.
func (v *visitor) visitTogether(visits ...[2]string) []int {
	if len(visits) == 0 {
		return nil
	}
	var others []int
	v.during = func() { others = v.visitTogether(visits[1:]...) }
	status := v.visit(visits[0][0], visits[0][1]).Code
	if status != http.StatusOK {
		v.during()
	}
	return append([]int{status}, others...)
}

func TestSessions_OpenConnections(t *testing.T) {
	const here, there, elsewhere = "198.51.100.1", "2001:db8:0:1::1", "2001:db8:0:1::2"
	free := chatguard.Limit{Algorithm: chatguard.TokenBucket, Burst: 1000, Refill: time.Second}
	identify := FirstOf(ByKey("X-User", func(name string) (chatguard.User, bool) { return chatguard.User{ID: name}, true }), Anonymous)
	for _, test := range []struct {
		name          string
		user, address int // MaxConnections, and per address
		visits        [][2]string
		want          []int
	}{
		{"of a user", 2, -1, [][2]string{{"anna", here}, {"anna", there}, {"anna", here}, {"ben", here}}, []int{200, 200, 429, 200}},
		{"of an address", -1, 2, [][2]string{{"anna", here}, {"ben", here}, {"clara", here}, {"clara", there}}, []int{200, 200, 429, 200}},
		{"of a /64", -1, 1, [][2]string{{"anna", there}, {"ben", elsewhere}}, []int{200, 429}},
		{"refused by address, let in from another", 1, 1, [][2]string{{"anna", here}, {"ben", here}, {"ben", there}}, []int{200, 429, 200}},
		{"refused by user, the address isn't taken", 1, 2, [][2]string{{"anna", here}, {"anna", here}, {"ben", here}, {"clara", here}}, []int{200, 429, 200, 429}},
		{"of the anonymous", 1, 2, [][2]string{{"", here}, {"", here}, {"", here}, {"", there}}, []int{200, 200, 429, 200}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newVisitor(t, identify, connguard.Options{MaxConnections: test.user, MaxConnectionsPerAddress: test.address, Connects: free, ConnectsPerAddress: free}, SessionOptions{})
			for range 3 { // as many places are free as before
				if got := v.visitTogether(test.visits...); !slices.Equal(got, test.want) {
					t.Errorf("%v, want %v", got, test.want)
				}
			}
		})
	}
	v := newVisitor(t, nil, connguard.Options{Connects: free, ConnectsPerAddress: free}, SessionOptions{})
	if got := v.visitTogether(slices.Repeat([][2]string{{"anna", here}}, 11)...); got[9] != 200 || got[10] != 429 {
		t.Errorf("without a word on it, a user has %v open", got)
	}
	many := make([][2]string, 101)
	for i := range many {
		many[i] = [2]string{strconv.Itoa(i), here}
	}
	if got := v.visitTogether(many...); got[99] != 200 || got[100] != 429 {
		t.Errorf("without a word on it, an address has %v open", got)
	}
}

func TestSessions_Refusals(t *testing.T) {
	broken := errors.New("no route to 10.0.0.5")
	identifyAs := func(user chatguard.User, err error) func(*http.Request) (chatguard.User, error) {
		return func(*http.Request) (chatguard.User, error) { return user, err }
	}
	room := func(name string) func(*http.Request) string { return func(*http.Request) string { return name } }
	none := chatguard.Limit{Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Hour}
	const mistake = "The server could not process the request. This is a server error; see the server's log.\n"
	for _, test := range []struct {
		name     string
		identify func(*http.Request) (chatguard.User, error)
		limits   connguard.Options
		opts     SessionOptions
		status   int
		body     string
		err      error // nil for a *ThrottledError
		log      string
	}{
		{"nobody", identifyAs(chatguard.User{}, ErrNobody), connguard.Options{}, SessionOptions{}, 401,
			"You are not signed in. Sign in, then try again.\n", ErrNobody, ""},
		{"trouble", identifyAs(chatguard.User{}, broken), connguard.Options{}, SessionOptions{}, 500, mistake, broken, "10.0.0.5"},
		{"no user ID", identifyAs(chatguard.User{Login: "anna"}, nil), connguard.Options{}, SessionOptions{}, 500, mistake, chatguard.ErrInvalid, "the user ID is empty"},
		{"a long ID", identifyAs(chatguard.User{ID: strings.Repeat("7", 257)}, nil), connguard.Options{}, SessionOptions{}, 500, mistake, chatguard.ErrInvalid, "256 bytes"},
		{"the key of a text", identifyAs(chatguard.User{ID: "\x1fuet12.anna"}, nil), connguard.Options{}, SessionOptions{}, 500, mistake, chatguard.ErrInvalid, "the control character U+001F"},
		{"no channel", identifyAs(chatguard.User{ID: "anna", Timezone: "Europe/Berln"}, nil), connguard.Options{}, SessionOptions{Channel: room("")}, 500, mistake, chatguard.ErrInvalid, "the channel ID is empty"},
		{"too many", nil, connguard.Options{MaxConnections: 1}, SessionOptions{}, 429,
			"You have too many connections open. Close one, then try again.\n", connguard.ErrConnections, ""},
		{"too often", nil, connguard.Options{Connects: none}, SessionOptions{}, 429, "Too many connection attempts. Try again in 60 min.\n", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var logged bytes.Buffer
			test.opts.Logger = slog.New(slog.NewTextHandler(&logged, nil))
			v := newVisitor(t, test.identify, test.limits, test.opts)
			got := v.refusal()
			if got.Code != test.status || got.Body.String() != test.body {
				t.Errorf("%d %q, want %d %q", got.Code, got.Body, test.status, test.body)
			}
			if (test.log != "") != (logged.Len() > 0) || !strings.Contains(logged.String(), test.log) {
				t.Errorf("log %q, want %q", &logged, test.log)
			}
			var told error
			test.opts.Refused = func(w http.ResponseWriter, _ *http.Request, err error) {
				told = err
				w.WriteHeader(http.StatusTeapot)
			}
			got = newVisitor(t, test.identify, test.limits, test.opts).refusal()
			var throttled *chatguard.ThrottledError
			if as := errors.As(told, &throttled); test.err != nil && !errors.Is(told, test.err) || test.err == nil && !as {
				t.Errorf("told of %v, want %v", told, test.err)
			}
			if retry := got.Header().Get("Retry-After"); got.Code != http.StatusTeapot || (retry != "") != (test.status == 429) {
				t.Errorf("an answer of its own: %d, Retry-After %q", got.Code, retry)
			}
		})
	}
}

// refusal returns the answer to the first of two overlapping visits that is refused.
func (v *visitor) refusal() (refused *httptest.ResponseRecorder) {
	v.during = func() { refused = v.visit("anna", "198.51.100.1") }
	if first := v.visit("anna", "198.51.100.1"); refused == nil {
		refused = first
	}
	return refused
}

// A connection whose user can't be identified takes no place, even if identify panics. While it is
// being identified, it counts for its address.
func TestSessions_PlaceDuringIdentify(t *testing.T) {
	var v *visitor
	statuses := []int{}
	v = newVisitor(t, func(r *http.Request) (chatguard.User, error) {
		switch r.Header.Get("X-User") {
		case "slow":
			statuses = append(statuses, v.visit("anna", "198.51.100.1").Code, v.visit("anna", "198.51.100.2").Code)
		case "broken":
			panic("identify is broken")
		}
		return userFromHeader(r)
	}, connguard.Options{MaxConnectionsPerAddress: 1}, SessionOptions{})
	for range 2 {
		func() {
			defer func() {
				if recovered := recover(); recovered != "identify is broken" {
					t.Errorf("recovered %v", recovered)
				}
			}()
			v.visit("broken", "198.51.100.1")
		}()
		statuses = append(statuses, v.visit("slow", "198.51.100.1").Code)
	}
	if want := []int{429, 200, 200, 429, 200, 200}; !slices.Equal(statuses, want) {
		t.Errorf("%v, want %v", statuses, want)
	}
}

// The connections of a user count together, whatever server they come through.
func TestSessions_ShareDoor(t *testing.T) {
	door := mustDoor(t, newEnforcingGuard(t, nil, nil), connguard.Options{MaxConnections: 1})
	raw, err := door.Admit(t.Context(), chatguard.User{ID: "anna"}, netip.Addr{}, "lobby")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{429, 200} {
		in, err := Sessions(door, userFromHeader, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-User", "anna")
		w := httptest.NewRecorder()
		in(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%d, want %d", w.Code, want)
		}
		raw.Close()
	}
}

func TestSessions_NoLimit(t *testing.T) {
	v := newVisitor(t, nil, connguard.Options{Connects: connguard.NoLimit(), ConnectsPerAddress: connguard.NoLimit()}, SessionOptions{})
	for range 400 {
		v.check("anna", "2001:db8::1", 200, "")
	}
	if w := v.visit("anna", "2001:db8::1"); len(w.Header()) != 0 {
		t.Errorf("an admitted request: %v", w.Header())
	}
}
