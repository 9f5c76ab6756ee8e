package webhook

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to lock the database

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
)

// author returns who has paused the channel, by which tests tell events apart.
func author(t testing.TB, r request) string {
	t.Helper()
	var e Event
	must(t, json.Unmarshal(r.body, &e))
	return e.Pause.By
}

func TestSend_OnlyWhatIsWanted(t *testing.T) {
	s := serve(t)
	all, limited, elsewhere := to(s), to(s, Discord), to(s)
	limited.ID, limited.Name, limited.Events, limited.Channels = "config:b", "b", []Kind{Failure, Pause}, []string{"SomeChannel"}
	elsewhere.ID, elsewhere.Name, elsewhere.Channels = "config:c", "c", []string{"8", "other"}
	b := begin(t, all, limited, elsewhere)
	for _, c := range []struct {
		event Event
		want  int
	}{
		{pauseBy("anna"), 2},
		{Event{Kind: Raid, Channel: channel, Raid: &RaidChange{}}, 1},
		{Event{Kind: Failure, Failure: &FailureChange{Name: "Twitch"}}, 3}, // belongs to no channel
		{Event{Kind: Pause, Channel: &Channel{ID: "8", Login: "x"}, Pause: &PauseChange{}}, 2},
	} {
		b.Send(c.event)
		for range c.want {
			s.next()
		}
		for _, id := range []string{all.ID, limited.ID, elsewhere.ID} {
			b.settled(id)
		}
		if waiting, dead := b.Totals(); len(s.requests) > 0 || waiting+dead > 0 {
			t.Errorf("%s: %d more requests, %d waiting, %d dead", c.event.Kind, len(s.requests), waiting, dead)
		}
	}
	if !b.Wants(Summary) || !b.status(all.ID).SuccessAt.Equal(b.clock.Now()) {
		t.Errorf("%+v", b.status(all.ID))
	}
}

// The pauses grow from 5 s to 30 min, varied by a fifth. The order is kept.
func TestRetry(t *testing.T) {
	s, b := answering(t, http.StatusInternalServerError)
	b.Send(pauseBy("first"))
	b.Send(pauseBy("second"))
	total := time.Duration(0)
	for i, want := range []time.Duration{5 * time.Second, 20 * time.Second, 80 * time.Second, 320 * time.Second, 1280 * time.Second, 1800 * time.Second, 1800 * time.Second, 1800 * time.Second, 1800 * time.Second} {
		if by := author(t, s.next()); by != "first" {
			t.Fatalf("try %d is of %s", i+1, by)
		}
		b.settled(hookID)
		if waiting, _, err := b.Deliveries(hookID); err != nil || waiting[0].Tries != i+1 || waiting[0].Reason != "the server answered 500 Internal Server Error" || !waiting[0].NextAt.After(b.clock.Now()) {
			t.Fatalf("%+v, %v", waiting, err)
		}
		got := b.clock.skipPause()
		if total += got; got < want*8/10 || got > want*12/10 {
			t.Errorf("pause %d lasts %s, want about %s", i+1, got, want)
		}
	}
	if by := author(t, s.next()); by != "first" {
		t.Errorf("the last try is of %s", by)
	}
	b.settled(hookID)
	dead := b.dead(hookID)
	if len(dead) != 1 || dead[0].Tries != MaxTries || dead[0].Reason != "the server answered 500 Internal Server Error" || !strings.Contains(dead[0].Text, "first") {
		t.Errorf("after %s: %+v", total, dead)
	}
	// The pause belongs to the hook, so that further deliveries cause no storm.
	if got := b.clock.skipPause(); got < 20*time.Minute {
		t.Errorf("the next delivery follows after %s", got)
	}
	if by := author(t, s.next()); by != "second" {
		t.Errorf("then comes %s", by)
	}
	s.answersStatus(http.StatusOK)
	b.settled(hookID)
	b.clock.skipPause()
	if by := author(t, s.next()); by != "second" {
		t.Errorf("then comes %s", by)
	}
	b.settled(hookID)
	if st := b.status(hookID); st.Waiting != 0 || st.Dead != 1 || st.SuccessAt.Before(st.FailureAt) || !st.NextAt.IsZero() {
		t.Errorf("%+v", st)
	}
}

func TestRetry_OrderKept(t *testing.T) {
	s := serve(t)
	n := 0
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		if n++; n <= 3 || n == 5 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	b := begin(t, to(s))
	for i := range 4 {
		b.Send(pauseBy(strconv.Itoa(i)))
	}
	var got []string
	for try := 1; len(got) < 8; try++ {
		got = append(got, author(t, s.next()))
		if try <= 3 || try == 5 {
			b.clock.skipPause()
		}
	}
	if text := strings.Join(got, ""); text != "00001123" {
		t.Errorf("the order is %s", text)
	}
}

// A hook that hangs delays no other.
func TestSend_HangingServer(t *testing.T) {
	hanging, fine := serve(t), serve(t)
	release := make(chan struct{})
	defer close(release)
	hanging.answers(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	other := to(fine)
	other.ID, other.Name = "config:fine", "fine"
	b := begin(t, to(hanging), other)
	b.client.timeout = 50 * time.Millisecond
	b.Send(pauseBy("anna"))
	fine.next()
	hanging.next()
	b.clock.skipPause()
	if st := b.status(hookID); st.Failure != "the server didn't answer within 50ms" || st.Waiting != 1 {
		t.Errorf("%+v", st)
	}
	hanging.next()
}

// While one delivery is in progress, up to 255 others wait. For more, the oldest become dead
// letters.
func TestSend_QueueFull(t *testing.T) {
	s := serve(t)
	release := make(chan struct{})
	s.answers(func(http.ResponseWriter, *http.Request) { <-release })
	b := begin(t, to(s))
	const more = 44
	for i := range MaxWaiting + more {
		b.Send(pauseBy(strconv.Itoa(i)))
		if i == 0 {
			s.next()
		}
	}
	if st := b.status(hookID); st.Waiting != MaxWaiting || st.Dead != more {
		t.Errorf("%+v", st)
	}
	for i, d := range b.dead(hookID) {
		if want := fmt.Sprintf(" %d paused", more-i); !strings.Contains(d.Text, want) || d.Reason != "256 newer deliveries were waiting" {
			t.Errorf("%+v, want %q", d, want)
		}
	}
	close(release)
	for i := range MaxWaiting - 1 {
		if got, want := author(t, s.next()), strconv.Itoa(more+1+i); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
	}
}

func TestDeadLetters_Bounded(t *testing.T) {
	s, b := answering(t, http.StatusGone)
	for i := range MaxDead + 5 {
		b.Send(pauseBy(strconv.Itoa(i)))
		if i == 0 {
			s.next()
			b.settled(hookID)
		}
	}
	if st := b.status(hookID); st.Dead != MaxDead || st.Removed != 5 || st.Waiting != 0 {
		t.Errorf("%+v", st)
	}
	b.clock.advance(29 * 24 * time.Hour)
	b.restart(to(s))
	if st := b.status(hookID); st.Dead != MaxDead || st.Off == "" {
		t.Errorf("after a restart: %+v", st)
	}
	b.clock.advance(2 * 24 * time.Hour)
	b.restart(to(s))
	if st := b.status(hookID); st.Dead != 0 {
		t.Errorf("after a month: %+v", st)
	}
}

// A hook that the server doesn't want any more is switched off until a test arrives.
func TestSend_Gone(t *testing.T) {
	for _, c := range []struct {
		format Format
		status int
		isOff  bool
	}{
		{Signed, http.StatusGone, true}, {Signed, http.StatusNotFound, false}, {Signed, http.StatusUnauthorized, false},
		{Discord, http.StatusNotFound, true}, {Discord, http.StatusUnauthorized, true}, {Discord, http.StatusForbidden, false},
	} {
		t.Run(fmt.Sprint(c.format, c.status), func(t *testing.T) {
			s, b := answering(t, c.status, c.format)
			b.Send(pauseBy("first"))
			b.Send(pauseBy("second"))
			s.next()
			b.settled(hookID)
			st := b.status(hookID)
			if (st.Off != "") != c.isOff || !strings.Contains(st.Failure, strconv.Itoa(c.status)) {
				t.Errorf("%+v", st)
			}
			if !c.isOff {
				if st.Dead != 1 || st.Waiting != 1 {
					t.Errorf("%+v", st)
				}
				return
			}
			b.Send(pauseBy("third"))
			if st = b.status(hookID); st.Dead != 3 || st.Waiting != 0 || len(s.requests) > 0 {
				t.Errorf("%+v, %d requests", st, len(s.requests))
			}
			if _, err := b.Resend(t.Context(), hookID, b.dead(hookID)[2].ID, "owner"); !errors.Is(err, ErrOff) {
				t.Errorf("sent again: %v", err)
			}
			b.restart(to(s, c.format))
			if st = b.status(hookID); st.Off == "" {
				t.Error("a restart switches it on")
			}
			s.answersStatus(http.StatusNoContent)
			if done, err := b.Test(t.Context(), hookID, "owner"); err != nil || !done.Delivered || done.Hook.Off != "" {
				t.Errorf("%+v, %v", done, err)
			}
			s.next()
			_, err := b.Resend(t.Context(), hookID, b.dead(hookID)[2].ID, "owner")
			must(t, err)
			s.next()
			b.settled(hookID)
			if st = b.status(hookID); st.Dead != 2 || st.Waiting != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// Another address is another try.
func TestSetConfigured_AddressChanged(t *testing.T) {
	s, b := answerOnce(t, http.StatusGone)
	other := to(s)
	other.Address += "2"
	b.restart(other)
	if st := b.status(hookID); st.Off != "" || st.Dead != 1 {
		t.Errorf("%+v", st)
	}
}

// What the former address answers says nothing about the one that the hook has meanwhile.
func TestSetConfigured_AddressChangedInProgress(t *testing.T) {
	s := serve(t)
	release := make(chan struct{})
	s.answers(func(w http.ResponseWriter, _ *http.Request) { <-release; w.WriteHeader(http.StatusGone) })
	b := begin(t, to(s))
	b.Send(pauseBy("anna"))
	former := s.next()
	s.answersStatus(http.StatusNoContent)
	other := to(s)
	other.Address += "2"
	b.SetConfigured([]Hook{other})
	close(release)
	b.clock.skipPause()
	if r := s.next(); r.path != former.path+"2" || author(t, r) != "anna" {
		t.Errorf("%s has received %s", r.path, r.body)
	}
	b.settled(hookID)
	if st := b.status(hookID); st.Off != "" || st.Dead+st.Waiting != 0 {
		t.Errorf("%+v", st)
	}
}

// A refusal of the content concerns this delivery only.
func TestSend_Refused(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		s, b := answering(t, status)
		b.Send(pauseBy("first"))
		b.Send(pauseBy("second"))
		s.next()
		s.answersStatus(http.StatusOK)
		b.settled(hookID)
		if dead := b.dead(hookID); len(dead) != 1 || dead[0].Tries != 1 || !strings.Contains(dead[0].Reason, strconv.Itoa(status)) {
			t.Errorf("%d: %+v", status, dead)
		}
		b.clock.skipPause()
		if by := author(t, s.next()); by != "second" {
			t.Errorf("%d: then comes %s", status, by)
		}
	}
}

// A redirect is never followed, wherever it leads, and its path may be secret.
func TestSend_Redirect(t *testing.T) {
	inside, s := serve(t), serve(t)
	for location, want := range map[string]string{
		inside.URL + "/secret":                 "leads to " + inside.URL + " and is not followed",
		"http://169.254.169.254/latest/secret": "leads to http://169.254.169.254 and",
		"https://ex\u202eample.com/x":          "is not followed",
		"":                                     "is not followed",
		"file:///etc/passwd":                   "is not followed",
		"https://a.de/" + strings.Repeat("x", 9000): "leads to https://a.de and",
	} {
		s.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
		b := begin(t, to(s))
		b.Send(pauseBy("anna"))
		s.next()
		b.settled(hookID)
		dead := b.dead(hookID)
		if len(dead) != 1 || dead[0].Tries != 1 || !strings.Contains(dead[0].Reason, want) || strings.Contains(dead[0].Reason, "secret") || strings.ContainsAny(dead[0].Reason, "\u202e\u0007") {
			t.Errorf("%.60q: %+v", location, dead)
		}
		b.stop()
	}
	if n := len(inside.requests); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestSend_Certificate(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c := newClient(nil, time.Now)
	o := c.send(t.Context(), Hook{Address: Address(s.URL), Format: Discord, AllowPrivate: true}, &Event{Kind: Test})
	if o.fate != tryAgain || !strings.HasPrefix(o.reason, "the server's certificate isn't valid: ") {
		t.Errorf("%+v", o)
	}
}

func TestRetryAfter(t *testing.T) {
	now := newFakeClock().Now()
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	c := &client{now: func() time.Time { return now }}
	for _, test := range []struct {
		header http.Header
		want   time.Duration
	}{
		{header(), 0},
		{header("Retry-After", "90"), 90 * time.Second},
		{header("Retry-After", "1.5"), 1500 * time.Millisecond},
		{header("Retry-After", now.Add(2*time.Minute).Format(http.TimeFormat)), 2 * time.Minute},
		{header("Retry-After", now.Add(-2*time.Minute).Format(http.TimeFormat)), 0},
		{header("Retry-After", "99999999999999999999"), time.Hour},
		{header("Retry-After", "Inf"), time.Hour},
		{header("Retry-After", "NaN"), 0},
		{header("Retry-After", "-5"), 0},
		{header("Retry-After", "soon"), 0},
		{header("Retry-After", now.AddDate(100, 0, 0).Format(http.TimeFormat)), time.Hour},
		{header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "1.25"), 1250 * time.Millisecond},
		{header("X-RateLimit-Remaining", "3", "X-RateLimit-Reset-After", "1.25"), 0},
	} {
		if got := c.askedWait(&http.Response{Header: test.header}); got != test.want {
			t.Errorf("%v: %s, want %s", test.header, got, test.want)
		}
	}
}

func TestSend_TooManyRequests(t *testing.T) {
	s := serve(t)
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	b := begin(t, to(s, Discord))
	b.Send(pauseBy("anna"))
	s.next()
	if got := b.clock.skipPause(); got != 2*time.Minute {
		t.Errorf("paused for %s", got)
	}
	// Discord says beforehand that nothing more is allowed.
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset-After", "1.5")
		w.WriteHeader(http.StatusNoContent)
	})
	b.settled(hookID)
	s.next()
	b.settled(hookID)
	b.Send(pauseBy("berta"))
	if got := b.clock.skipPause(); got != 1500*time.Millisecond {
		t.Errorf("paused for %s", got)
	}
	s.next()
}

func TestSend_ConnectionClosed(t *testing.T) {
	s := serve(t)
	s.answers(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	b := begin(t, to(s))
	done, err := b.Test(t.Context(), hookID, "owner")
	if err != nil || done.Problem != "the server closed the connection without an answer" {
		t.Errorf("%+v, %v", done, err)
	}
}

// An answer is read up to a few kilobytes and never decompressed.
func TestTest_HugeAnswers(t *testing.T) {
	const piece = 1 << 16
	endless := func(w http.ResponseWriter, status int) {
		w.WriteHeader(status)
		for {
			if _, err := w.Write([]byte(strings.Repeat("a\u202eb ", piece))); err != nil {
				return
			}
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"endless":         func(w http.ResponseWriter, _ *http.Request) { endless(w, http.StatusOK) },
		"endless refusal": func(w http.ResponseWriter, _ *http.Request) { endless(w, http.StatusBadRequest) },
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 1000 {
				z.Write(make([]byte, piece))
			}
			z.Close()
		},
		"headers": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", maxHeaders+1))
		},
	} {
		s := serve(t)
		s.answers(answer)
		b := begin(t, to(s))
		done, err := b.Test(t.Context(), hookID, "owner")
		must(t, err)
		if wantDelivered := name == "endless" || name == "compressed"; done.Delivered != wantDelivered || done.Answer != "" || len(done.Problem) > 400 {
			t.Errorf("%s: %+v", name, done)
		}
	}
	long := strings.NewReader(strings.Repeat("a\u202e\r\n", 1e6))
	before := long.Len()
	if got := excerpt(long); len(got) > maxExcerpt || strings.ContainsAny(got, "\u202e\n") || !strings.HasPrefix(got, "a a a") || before-long.Len() != maxAnswer {
		t.Errorf("%q, after %d bytes", got, before-long.Len())
	}
}

// What waits is sent after a restart, in order, with the same IDs and the rest of the pause.
func TestRestart(t *testing.T) {
	s, b := answering(t, http.StatusBadGateway)
	for i := range 3 {
		b.Send(pauseBy(strconv.Itoa(i)))
	}
	first, _ := wantSigned(t, s.next())
	b.settled(hookID)
	s.answersStatus(http.StatusOK)
	b.restart(to(s))
	if st := b.status(hookID); st.Waiting != 3 || st.Failure == "" {
		t.Errorf("%+v", st)
	}
	if got := b.clock.skipPause(); got > 6*time.Second {
		t.Errorf("paused for %s", got)
	}
	for i := range 3 {
		r := s.next()
		if id, _ := wantSigned(t, r); author(t, r) != strconv.Itoa(i) || (id == first) != (i == 0) {
			t.Errorf("delivery %d is %s of %s", i, id, author(t, r))
		}
	}
	b.settled(hookID)
	b.restart(to(s))
	if waiting, dead := b.Totals(); waiting+dead > 0 || b.status(hookID).SuccessAt.IsZero() {
		t.Errorf("%+v", b.status(hookID))
	}
}

// A clock that was set back doesn't stop the deliveries of a later process.
func TestRestart_ClockSetBack(t *testing.T) {
	s, b := answerOnce(t, http.StatusBadGateway)
	b.stop()
	b.clock.advance(-1000 * time.Hour)
	b.start(nil, to(s))
	b.settled(hookID)
	b.clock.advance(mostWait)
	s.next()
}

// While the database can't be written, deliveries wait in memory, and are written later.
func TestSend_DatabaseLocked(t *testing.T) {
	s, b := answering(t, http.StatusBadGateway)
	unlock := persisttest.Lock(t, b.path)
	b.Send(pauseBy("anna"))
	s.next()
	b.settled(hookID)
	unlock()
	b.restart(to(s))
	if waiting, _, err := b.Deliveries(hookID); err != nil || len(waiting) != 1 || waiting[0].Tries != 1 {
		t.Errorf("%+v, %v", waiting, err)
	}
}

// Deliveries of a hook that is removed from the configuration wait for its return.
func TestSetConfigured_Absent(t *testing.T) {
	s, b := answerOnce(t, http.StatusBadGateway)
	b.SetConfigured(nil)
	if list := b.List(); len(list) > 0 || b.Wants(Pause) {
		t.Errorf("%+v", list)
	}
	if _, err := b.Test(t.Context(), hookID, "owner"); !errors.Is(err, ErrNoHook) {
		t.Error(err)
	}
	b.Send(pauseBy("nobody hears it"))
	b.restart()
	s.answersStatus(http.StatusOK)
	b.SetConfigured([]Hook{to(s)})
	b.clock.advance(mostWait)
	if by := author(t, s.next()); by != "anna" {
		t.Error(by)
	}
	b.settled(hookID)
	b.SetConfigured(nil)
	b.clock.advance(40 * 24 * time.Hour)
	b.restart()
	hooks, deliveries, err := b.store.Webhooks(t.Context())
	if err != nil || len(hooks)+len(deliveries) > 0 {
		t.Errorf("%v, %v, %v", hooks, deliveries, err)
	}
}

// What waits longer than a day is given up with the next failure.
func TestRetry_TooOld(t *testing.T) {
	s, b := answering(t, http.StatusBadGateway)
	b.Send(pauseBy("old"))
	s.next()
	b.Send(pauseBy("waiting"))
	b.settled(hookID)
	b.clock.advance(25 * time.Hour)
	s.next()
	b.settled(hookID)
	if dead := b.dead(hookID); len(dead) != 2 || dead[0].Reason != "the server answered 502 Bad Gateway" || dead[0].Tries != 0 || dead[1].Tries != 2 {
		t.Errorf("%+v", dead)
	}
}

// A request in progress at the end is finished, and not repeated by the next process.
func TestRun_FinishesRequest(t *testing.T) {
	s := serve(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	s.answers(func(http.ResponseWriter, *http.Request) { close(arrived); <-release })
	b := begin(t, to(s))
	b.Send(pauseBy("anna"))
	<-arrived
	stopped := make(chan struct{})
	go func() { defer close(stopped); b.stop() }()
	for isRunning := true; isRunning; {
		b.mu.Lock()
		isRunning = b.running != nil
		b.mu.Unlock()
	}
	close(release)
	<-stopped
	b.start(nil, to(s))
	if st := b.status(hookID); st.Waiting != 0 || st.SuccessAt.IsZero() {
		t.Errorf("%+v", st)
	}
}

func TestLog_NoAddress(t *testing.T) {
	s, b := answerOnce(t, http.StatusGone)
	s.Close()
	if done, err := b.Test(t.Context(), hookID, "owner"); err != nil || done.Delivered || done.Problem != "the server can't be reached: connect: connection refused" {
		t.Errorf("%+v, %v", done, err)
	}
	audits, err := b.store.Audits(t.Context(), journal.AuditFilter{N: 10})
	must(t, err)
	data, err := json.Marshal([]any{audits, b.List(), b.dead(hookID)})
	must(t, err)
	for _, text := range []string{b.log.String(), string(data)} {
		if strings.Contains(text, "secret-part") || strings.Contains(text, string(secret)[6:]) || !strings.Contains(text, "test") {
			t.Errorf("%s", text)
		}
	}
}

func TestTest_BusyHook(t *testing.T) {
	s := serve(t)
	release := make(chan struct{})
	s.answers(func(http.ResponseWriter, *http.Request) { <-release })
	b := begin(t, to(s))
	b.Send(pauseBy("anna"))
	s.next()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Test(ctx, hookID, "owner"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	close(release)
}
