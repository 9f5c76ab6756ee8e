package control

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
)

func TestTurns_Take(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		anna, berta := chatguard.Key{ChannelID: "1", UserID: "a"}, chatguard.Key{ChannelID: "1", UserID: "b"}
		end, err := all.take(t.Context(), anna)
		must(t, err)
		endOther, err := all.take(t.Context(), berta)
		must(t, err) // without waiting
		endOther()

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := all.take(short, anna); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second change of a user: %v", err)
		}
		taken := make(chan func(), 1)
		go func() {
			end, err := all.take(t.Context(), anna)
			if err != nil {
				t.Error(err)
			}
			taken <- end
		}()
		synctest.Wait()
		if len(taken) > 0 {
			t.Error("two changes of a user at the same time")
		}
		end()
		(<-taken)()
		end, err = all.take(short, anna) // a context that has ended keeps nobody from a free turn
		must(t, err)
		end()
		if len(all.of) > 0 {
			t.Errorf("%d turns are left", len(all.of))
		}
	})
}
