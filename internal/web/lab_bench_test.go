//go:build !race

package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
)

// BenchmarkDecisionWhileAskingLab decides on a message each millisecond, first while nothing else
// runs and then while two people ask the Lab about 1,000 messages on eight lanes, one question after
// the other. It reports how late the decisions were, as the median and the 99th percentile, and how
// long they took.
func BenchmarkDecisionWhileAskingLab(b *testing.B) {
	d := dash(b)
	person := d.as(auth.View)
	const decisions = 3000
	var resting, asking delays
	for b.Loop() {
		resting.add(d, decisions)
		ctx, cancel := context.WithCancel(context.Background())
		var people sync.WaitGroup
		for range 2 {
			people.Go(func() {
				for ctx.Err() == nil {
					d.askLab(ctx, person)
				}
			})
		}
		asking.add(d, decisions)
		cancel()
		people.Wait()
	}
	resting.report(b, "resting")
	asking.report(b, "asking")
}

// askLab asks one question, and fails unless it is answered before the context ends.
func (d *dashboard) askLab(ctx context.Context, person func(*http.Request)) {
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+d.address+"/api/v1/lab", strings.NewReader(manyMessages()))
	if err != nil {
		d.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	person(r)
	answer, err := d.client.Do(r)
	if err == nil {
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if ctx.Err() == nil && (err != nil || answer.StatusCode != http.StatusOK) {
		d.Error("the Lab doesn't answer: ", err)
	}
}
