package chat

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// TestBot_ClockSteps checks that steps of the chat's clock, forwards and back, change nothing: each
// throttled message is deleted, its author is notified, and a moderator is answered.
func TestBot_ClockSteps(t *testing.T) {
	for _, step := range []time.Duration{20 * time.Second, 50 * time.Second, 61 * time.Second, 2 * time.Hour, 48 * time.Hour} {
		var off time.Duration
		o := Options{
			Now:     func() time.Time { return time.Now().Add(off) },
			Notices: always(Notices{Text: "slower, {name}"}),
			Answer:  func(_ context.Context, m chatguard.Message) string { return "answer to " + m.ID },
		}
		testWithBot(t, o, func(s *stage) {
			for n, at := range []time.Duration{0, step, 0, -step, 0} {
				off = at
				s.wait(time.Second)
				user := fmt.Sprint("user", n)
				one, two := message(fmt.Sprint("one", n), user), message(fmt.Sprint("two", n), user)
				order := message(fmt.Sprint("order", n), "9", chatguard.RoleModerator)
				one.SentAt, two.SentAt, order.SentAt = o.Now(), o.Now(), o.Now()
				order.Text = "!chatguard status"
				s.sink.Messages(time.Time{}, []Message{one, two})
				s.wait(5 * time.Second)
				s.checkRequests("delete "+two.ID, fmt.Sprintf("say in 1 to %q: slower, %s", "", user))
				s.sink.Messages(time.Time{}, []Message{order})
				s.wait(5 * time.Second)
				s.checkRequests(fmt.Sprintf("say in 1 to %q: answer to %s", order.ID, order.ID))
			}
		}, "delete")
	}
}
