package checkclient_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/chatguardtest"
	"github.com/chatguard/chatguard/checkclient"
)

const verdict = `{"at":"2026-03-01T20:00:00Z","channel":"lobby","user_id":"1","allowed":true}`

// After MaxFailures failures in a row, nothing is asked for the time Pause. Then one message asks,
// and the others follow if it is answered.
func TestClient_Pauses(t *testing.T) {
	clock := chatguardtest.NewClock(time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC))
	asked, down := 0, false
	client := newClient(t, "http://localhost", &checkclient.Options{Now: clock.Now, Transport: transport(func(*http.Request) (*http.Response, error) {
		if asked++; down {
			return nil, errors.New("the network is down")
		}
		return answer(http.StatusOK, "application/json", verdict), nil
	})})
	for i, step := range []struct {
		after time.Duration
		down  bool
		asks  bool
	}{
		{0, true, true}, {0, true, true}, {0, false, true}, // an answer ends the row
		{0, true, true}, {0, true, true}, {0, true, true}, {0, true, false}, {0, false, false},
		{5*time.Second - 1, false, false}, {1, true, true}, {0, false, false}, // the probe fails
		{5*time.Second - 1, false, false}, {1, false, true}, {0, false, true}, // it is answered
		{0, true, true}, {0, true, true}, {0, true, true}, {0, true, false}, // again three in a row
	} {
		clock.Advance(step.after)
		down = step.down
		before := asked
		v, err := client.Check(t.Context(), from("1"))
		if asks := asked > before; asks != step.asks || err != nil || !v.Allowed || v.Degraded != (down || !asks) {
			t.Errorf("step %d: asks %t, %v, %v", i, asks, v, err)
		}
	}
}

// A server that hangs delays the chat by at most three time-outs, then by one in each pause. Only
// one of many messages is the probe.
func TestClient_HungServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		client := newClient(t, "http://localhost", &checkclient.Options{Transport: transport(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		began := time.Now()
		check := func() {
			if v, err := client.Check(t.Context(), from("1")); err != nil || !v.Allowed || !v.Degraded {
				t.Errorf("%v, %v", v, err)
			}
		}
		for range 100 {
			check()
		}
		if took := time.Since(began); took != 6*time.Second || asked.Load() != 3 {
			t.Errorf("%v, %d requests", took, asked.Load())
		}
		time.Sleep(5 * time.Second)
		var messages sync.WaitGroup
		for range 100 {
			messages.Go(check)
		}
		messages.Wait()
		if asked.Load() != 4 {
			t.Errorf("%d requests", asked.Load())
		}
	})
}

// Requests from before the pause change nothing when they fail, and a probe that its caller cancels
// leaves the place to the next message.
func TestClient_Pauses_Stragglers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		client := newClient(t, "http://localhost", &checkclient.Options{Timeout: 4 * time.Second, Transport: transport(func(r *http.Request) (*http.Response, error) {
			if asked.Add(1) > 5 {
				return answer(http.StatusOK, "application/json", verdict), nil
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		check := func(ctx context.Context) { client.Check(ctx, from("1")) }
		var messages sync.WaitGroup
		for range 4 { // the third one fails after 7 s, and the last one after 8 s
			time.Sleep(time.Second)
			messages.Go(func() { check(t.Context()) })
		}
		messages.Wait()
		time.Sleep(4 * time.Second) // the pause ends after 12 s
		ctx, cancel := context.WithCancel(t.Context())
		messages.Go(func() { check(ctx) })
		synctest.Wait()
		cancel()
		messages.Wait()
		if check(t.Context()); asked.Load() != 6 {
			t.Errorf("%d requests", asked.Load())
		}
	})
}
