//go:build !race

package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/waittest"
)

// chatter runs a crowd until hush is called: regulars who keep writing, guests who come once, and a
// moderator.
func (s *scene) chatter() (hush func()) {
	var talking sync.WaitGroup
	quiet := make(chan struct{})
	talking.Go(func() {
		for i := 0; ; i++ {
			l := faketwitch.Line{Channel: "gardenhour", Login: fmt.Sprint("regular", i%20), Text: fmt.Sprint("hello ", i)}
			switch i % 10 {
			case 0:
				l.Login = fmt.Sprint("guest", i)
			case 1:
				l.Login, l.Badges = "berta", "moderator/1"
			}
			select {
			case <-quiet:
				return
			case <-time.After(time.Millisecond): // a flood could merge several penalties of a user
			}
			if _, err := s.twitch.Say(l); err != nil && !errors.Is(err, faketwitch.ErrSilenced) {
				// users who flood for long are timed out
				s.Error(err)
			}
		}
	})
	return func() {
		close(quiet)
		talking.Wait()
	}
}

// TestRun_StopLosesNothing sends SIGTERM while a crowd writes and the first flush is an hour away.
func TestRun_StopLosesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.env = append(s.env, "CHATGUARD_FLUSH_INTERVAL=1h")
	s.start()
	hush := s.chatter()
	waittest.Until(t, func() bool { return s.twitch.Deleted() > 0 })
	s.stop()
	hush()

	r := s.export()
	_, tail, _ := strings.Cut(s.bot.log(), "msg=read")
	if judged := logValue(t, tail, "messages"); len(r.timeline) != judged || judged == 0 {
		t.Errorf("%d messages are in the timeline, %d were judged", len(r.timeline), judged)
	}
	r.checkEntries(t, 3)
	results := r.resultCounts()
	if results[journal.Done] != s.twitch.Deleted() || results[journal.Done]+results[journal.Skipped] != len(r.journal) {
		t.Errorf("%d entries with outcomes %v; Twitch deleted %d", len(r.journal), results, s.twitch.Deleted())
	}

	s.forgetDeletes()
	s.start()
	spoken := r.messageCounts()
	for i := 2; i < 6; i++ {
		login := fmt.Sprint("regular", i)
		for range 3 - spoken[login] {
			s.sayAllowed(login)
		}
		s.sayExcess(login)
	}
	for range 3 - spoken["guest0"] {
		s.sayAllowed("guest0")
	}
	s.sayExcess("guest0")
	s.stop()
	again := s.export()
	again.checkEntries(t, 3)
}

// logValue returns the number that a log line gives for a key.
func logValue(t *testing.T, line, key string) (n int) {
	t.Helper()
	_, value, _ := strings.Cut(line, " "+key+"=")
	if _, err := fmt.Sscan(value, &n); err != nil {
		t.Fatalf("no %s in %q", key, line)
	}
	return n
}

// TestRun_KillLosesAMoment sends SIGKILL while a crowd writes and Twitch delays penalties. After
// the next start, the messages that were written still count. Penalties that chatguard will never
// carry out are recorded as skipped.
func TestRun_KillLosesAMoment(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	inAMinute := strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10)
	s.twitch.FailNext(faketwitch.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {inAMinute}}})
	s.say("anna")
	hush := s.chatter()
	waittest.Until(t, func() bool {
		r := s.export()
		return r.resultCounts()[journal.Pending] > 100
	})
	s.kill()
	hush()
	s.forgetDeletes() // some were sent while Twitch's answer was pending
	r := s.export()
	r.checkEntries(t, 3)
	s.start()
	s.sayExcess("anna")
	for login, n := range r.messageCounts() {
		if strings.HasPrefix(login, "regular") && n >= 3 {
			s.sayExcess(login)
		}
	}
	var after record
	waittest.Until(t, func() bool {
		after = s.export()
		return after.resultCounts()[journal.Pending] == 0
	})
	for i, e := range after.journal {
		want := journal.Outcome{Result: journal.Done}
		if i < len(r.journal) {
			want = r.journal[i].Outcome
		}
		if want.Result == journal.Pending {
			want.Result, want.Reason = journal.Unknown, "chatguard stopped; whether it was carried out is unknown"
		}
		if e.Outcome.Result != want.Result || e.Outcome.Reason != want.Reason {
			t.Fatalf("entry %d of %d, %d of them from before: %+v, want %+v", i, len(after.journal), len(r.journal), e.Outcome, want)
		}
	}
	after.checkEntries(t, 3)
	s.stop()
}

// TestMetrics_StoreFigures checks that the store's figures in /metrics change.
func TestMetrics_StoreFigures(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	s.change(func(p *chatguard.Policy) { p.Limits[0].Burst = 2 })
	for name, least := range map[string]float64{
		`rows_written_total{table="timeline"}`: 4,
		`rows_written_total{table="journal"}`:  1,
		`rows_written_total{table="state"}`:    1,
		`rows_written_total{table="revision"}`: 1,
		`rows_written_total{table="audit"}`:    1,
		"flush_duration_seconds_count":         1,
		"size_bytes":                           4096,
		"lag_seconds":                          0,
	} {
		waittest.Until(t, func() bool { return s.metric(name) >= least })
	}
	for _, name := range []string{`records_dropped_total{table="timeline"}`, `records_dropped_total{table="journal"}`, "errors_total"} {
		if n := s.metric(name); n != 0 {
			t.Errorf("%s is %v", name, n)
		}
	}
	s.checkDescribed()
	s.stop()
}

// checkDescribed checks that each metric has a type and a help text before its first line, once,
// and that the state is there.
func (s *scene) checkDescribed() {
	s.Helper()
	_, all := s.ask("GET", "metrics", "")
	described, family, kind := map[string]bool{}, "", ""
	for line := range strings.Lines(all) {
		if text, isHelp := strings.CutPrefix(line, "# HELP "); isHelp {
			family, _, _ = strings.Cut(text, " ")
			if described[family] {
				s.Errorf("%s is described twice", family)
			}
			described[family], kind = true, ""
			continue
		}
		if text, isType := strings.CutPrefix(line, "# TYPE "+family+" "); isType {
			kind = strings.TrimSpace(text)
			continue
		}
		name := line[:strings.IndexAny(line, "{ ")]
		if kind == "histogram" || kind == "summary" {
			for _, suffix := range []string{"_sum", "_count", "_bucket"} {
				name = strings.TrimSuffix(name, suffix)
			}
		}
		if name != family || kind == "" {
			s.Errorf("no help or no type before %s", line)
		}
	}
	channel := `{channel="gardenhour",channel_id="` + s.twitch.UserID("gardenhour") + `"}`
	for _, want := range []string{
		`chatguard_build_info{version="`, "chatguard_channel_enforcing" + channel + " 1", "chatguard_channel_paused" + channel + " 0",
		"chatguard_channel_raid_mode" + channel + " 0", "chatguard_channel_read" + channel + " 1", "chatguard_ready 1", `chatguard_connected{connection="chat"} 1`, `chatguard_connected{connection="helix"} 1`,
		"chatguard_token_valid 1", "chatguard_token_renewable ", "chatguard_token_expiry_timestamp_seconds 1", "chatguard_helix_requests_remaining ",
		"chatguard_pending_penalties 0", "chatguard_chat_lines_total ", "chatguard_chat_dropped_lines_total 0", "chatguard_chat_reconnects_total ",
		`chatguard_line_to_verdict_seconds_bucket{le="+Inf"} `, `chatguard_verdict_to_request_seconds_bucket{le="+Inf"} `,
		`chatguard_request_to_answer_seconds_bucket{le="+Inf"} `,
		"chatguard_database_ok 1", "# TYPE chatguard_messages_total counter",
	} {
		if !strings.Contains(all, "\n"+want) {
			s.Errorf("no %s in\n%s", want, all)
		}
	}
}

// metric returns the value of one of the store's metrics, or -1 if it is missing.
func (s *scene) metric(name string) (value float64) {
	s.Helper()
	_, all := s.ask("GET", "metrics", "")
	_, text, found := strings.Cut("\n"+all, "\nchatguard_database_"+name+" ")
	if !found {
		return -1
	}
	if _, err := fmt.Sscan(text, &value); err != nil {
		s.Fatalf("%s: %v, in\n%s", name, err, all)
	}
	return value
}
