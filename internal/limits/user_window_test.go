package limits

import (
	"testing"
	"time"
)

func TestUserWindow(t *testing.T) {
	limit := window("user-window", 2, time.Minute)
	runAll(t, []scenario{
		{"it starts with the first message", limit, []step{
			{at: 10, ok: true}, {at: 30, ok: true}, {at: 30, retry: 40}, {at: 69, retry: 1},
			{at: 70, ok: true}, {at: 75, ok: true}, {at: 129, retry: 1}, {at: 200, n: 2, ok: true}, {at: 200, retry: 60},
		}},
		{"it starts with the first that is allowed", limit, []step{
			{at: 0, n: 3, retry: -1}, {at: 5, ok: true}, {at: 6, n: 2, retry: 59}, {at: 6, ok: true}, {at: 6, retry: 59},
		}},
		{"a late message counts in the window of the last", limit, []step{
			{at: 100, n: 2, ok: true}, {at: 90, retry: 70},
		}},
		{"a window after a jump back becomes the present one", limit, []step{
			{at: 1000, n: 2, ok: true}, {at: 100, retry: 60}, {at: 159, retry: 1}, {at: 160, ok: true},
		}},
		{"a window after a jump back that isn't full", limit, []step{
			{at: 1000, ok: true}, {at: 100, ok: true}, {at: 110, retry: 50}, {at: 160, n: 2, ok: true},
		}},
		{"a window that contains the present is kept", window("user-window", 2, time.Hour), []step{
			{at: 0, ok: true}, {at: 1000, ok: true}, {at: 100, retry: 3500},
		}},
	})
}
