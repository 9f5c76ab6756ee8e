package sharing_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// seedPolicy has limits of all scopes.
func seedPolicy() chatguard.Policy {
	everywhere := chatguard.FixedWindowLimit("everywhere", 9, time.Hour)
	everywhere.Per = chatguard.PerUserEverywhere
	together := chatguard.SlidingLogLimit("together", 50, time.Hour)
	together.Per = chatguard.PerChannel
	policy := chatguard.DefaultPolicy()
	policy.Limits = append(policy.Limits, everywhere, together, chatguard.LeakyBucketLimit("queue", time.Minute, 5), chatguard.SlidingWindowLimit("steady", 8, time.Hour))
	policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDelete}, {Action: chatguard.ActionTimeout, Duration: time.Minute}}
	return policy
}

// TestSeed checks that a Guard with a seeded store decides as the Guard alone did, that rows in the
// store stay, and that a dry run writes nothing.
func TestSeed(t *testing.T) {
	ctx := context.Background()
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	alone := mustNew(t, seedPolicy(), &chatguard.Options{Now: func() time.Time { return start }})
	message := func(i int) chatguard.Message {
		return chatguard.Message{ChannelID: fmt.Sprint("c", i%2), User: chatguard.User{ID: fmt.Sprint("user ", i%7)}, SentAt: start.Add(time.Duration(i) * 100 * time.Millisecond)}
	}
	for i := range 100 {
		if _, err := alone.Check(ctx, message(i)); err != nil {
			t.Fatal(err)
		}
	}
	key := chatguard.Key{ChannelID: "c1", UserID: "user 1"}
	must(t, alone.SetUserOverride(ctx, key, chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 20}}}))
	if _, err := alone.Grant(ctx, key, "daily", 7); err != nil {
		t.Fatal(err)
	}
	store := newFakeServer()
	node := &fakeShared{server: store, clock: func() time.Time { return start.Add(10 * time.Second) }, timeout: time.Minute}
	shared := mustNew(t, seedPolicy(), &chatguard.Options{Shared: node})
	batch := alone.State().Dirty()
	for row := range batch.Rows() {
		must(t, shared.State().Restore(row, start.Add(10*time.Second)))
	}
	batch.Release()
	planned, err := shared.Shared().Seed(ctx, true)
	if err != nil || planned.Written == 0 || planned.Kept != 0 {
		t.Fatalf("%+v, %v", planned, err)
	}
	if len(store.rows) > 0 {
		t.Errorf("the dry run has written %d rows", len(store.rows))
	}
	done, err := shared.Shared().Seed(ctx, false)
	if err != nil || done != planned || len(store.rows) != planned.Written {
		t.Fatalf("%+v, %v; %d rows, planned %+v", done, err, len(store.rows), planned)
	}
	again, err := shared.Shared().Seed(ctx, false)
	if err != nil || again.Written != 0 || again.Kept != planned.Written {
		t.Fatalf("%+v, %v", again, err)
	}
	other := mustNew(t, seedPolicy(), &chatguard.Options{Shared: node})
	for i := 100; i < 300; i++ {
		want, err := alone.Check(ctx, message(i))
		must(t, err)
		got, err := other.Check(ctx, message(i))
		must(t, err)
		want.EntryID, got.EntryID = 0, 0
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("message %d:\n got %+v\nwant %+v", i, got, want)
		}
	}
}

func TestSeed_Refused(t *testing.T) {
	alone := mustNew(t, chatguard.DefaultPolicy(), nil)
	if _, err := alone.Shared().Seed(context.Background(), false); err == nil || err.Error() != "chatguard: the Guard has no shared store: set Options.Shared" {
		t.Error(err)
	}
}
