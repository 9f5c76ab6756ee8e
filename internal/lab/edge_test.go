package lab

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestRunEdge(t *testing.T) {
	const minute = time.Minute
	for _, test := range []struct {
		limit string
		span  time.Duration
		want  int64
	}{
		// the limits of 15 per minute
		{"fixed-window messages=15 every=60s", minute, 30},
		{"user-window messages=15 every=60s", minute, 29},
		{"sliding-window messages=15 every=60s", minute, 29},
		{"sliding-log messages=15 every=60s", minute, 15},
		{"token-bucket burst=3 refill=4s", minute, 17},
		{"leaky-bucket every=4s queue=0", minute, 15},
		{"leaky-bucket every=4s queue=9", minute, 15},
		// longer and shorter stretches
		{"token-bucket burst=3 refill=4s", 59 * time.Second, 17},
		{"token-bucket burst=3 refill=4s", 4 * time.Second, 3},
		{"token-bucket burst=3 refill=4s", 4*time.Second + 1, 4},
		{"token-bucket burst=3 refill=4s", 1, 3},
		{"leaky-bucket every=4s queue=2", 4*time.Second + 1, 2},
		{"fixed-window messages=15 every=60s", 1, 15},
		{"fixed-window messages=15 every=60s", 2, 30},
		{"fixed-window messages=15 every=60s", minute + 1, 30},
		{"fixed-window messages=15 every=60s", minute + 2, 45},
		{"user-window messages=15 every=60s", minute + 1, 30},
		{"sliding-window messages=15 every=60s", 2 * minute, 43},
		{"sliding-log messages=15 every=60s", minute + 1, 30},
		// the day of 23 hours lies between two others
		{"daily-window messages=300 timezone=Europe/Berlin", minute, 600},
		{"daily-window messages=300 timezone=UTC", 24*time.Hour + 1, 600},
		{"daily-window messages=300 timezone=Europe/Berlin", 24*time.Hour + 1, 900},
	} {
		limit, err := ParseLimit(test.limit, "")
		must(t, err)
		if got, err := RunEdge(t.Context(), test.span, limit); err != nil || got != test.want {
			t.Errorf("%s in %s: %d, want %d; %v", test.limit, test.span, got, test.want, err)
		}
	}
}

func TestRunEdge_TooMany(t *testing.T) {
	var wrong *Error
	l, err := alone(3, chatguard.TokenBucketLimit("fast", 1, 2*time.Microsecond))
	must(t, err)
	_, err = l.edge(t.Context(), nil, time.Minute, 1000)
	if want := `lane 3: limit "fast": too many messages pass in 1m: use a shorter span`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := RunEdge(t.Context(), 0, chatguard.TokenBucketLimit("fast", 1, time.Second)); !errors.As(err, &wrong) {
		t.Errorf("a span of 0: %v", err)
	}
}

// TestRunEdge_Oracle tries all ways to send up to two messages at each of nine ticks. The lengths are
// those in which a nanosecond more than a tick makes no difference.
func TestRunEdge_Oracle(t *testing.T) {
	const tick = time.Microsecond
	spans := []time.Duration{2 * tick, 4 * tick, 6 * tick}
	for _, text := range []string{
		"fixed-window messages=2 every=4us", "user-window messages=2 every=4us", "sliding-window messages=2 every=4us",
		"sliding-log messages=2 every=4us", "token-bucket burst=2 refill=3us", "leaky-bucket every=2us queue=1",
	} {
		limit, err := ParseLimit(text, "")
		must(t, err)
		l, err := alone(1, limit)
		must(t, err)
		guard, err := l.newGuard()
		must(t, err)
		most := make([]int, len(spans))
		for schedule := range 19683 { // 3 to the 9th
			left := leftBy(t, guard, schedule, tick)
			for i, span := range spans {
				most[i] = max(most[i], mostIn(left, span))
			}
		}
		for i, span := range spans {
			if got, err := RunEdge(t.Context(), span, limit); err != nil || got != int64(most[i]) {
				t.Errorf("%s in %s: %d, want %d; %v", text, span, got, most[i], err)
			}
		}
	}
}

// leftBy returns when messages leave that a user of its own sends by a schedule. Its digits in base 3
// are how many are sent at each tick.
func leftBy(t *testing.T, guard *chatguard.Guard, schedule int, tick time.Duration) (left []int64) {
	t.Helper()
	user := chatguard.User{ID: strconv.Itoa(schedule)}
	for at := start; schedule > 0; schedule, at = schedule/3, at.Add(tick) {
		for range schedule % 3 {
			v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: channelID, User: user, SentAt: at})
			must(t, err)
			if v.Allowed {
				left = append(left, at.Add(v.Delay).UnixNano())
			}
		}
	}
	return left
}
