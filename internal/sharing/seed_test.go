package sharing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// seedPolicy has limits of several scopes.
func seedPolicy() chatguard.Policy {
	policy := with(chatguard.DefaultPolicy(),
		per(chatguard.PerUserEverywhere, chatguard.FixedWindowLimit("everywhere", 9, time.Hour)),
		per(chatguard.PerChannel, chatguard.SlidingLogLimit("together", 50, time.Hour)),
		chatguard.LeakyBucketLimit("queue", time.Minute, 5), chatguard.SlidingWindowLimit("steady", 8, time.Hour))
	policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDelete}, {Action: chatguard.ActionTimeout, Duration: time.Minute}}
	return policy
}

// TestSeed checks that a Guard with a seeded store decides as the Guard alone did, that rows in the
// store stay, and that a dry run writes nothing.
func TestSeed(t *testing.T) {
	alone := mustNew(t, seedPolicy(), &chatguard.Options{Now: sharedNoon})
	numbered := func(i int) chatguard.Message {
		return chatguard.Message{ChannelID: fmt.Sprint("c", i%2), User: chatguard.User{ID: fmt.Sprint("user ", i%7)}, SentAt: sharedStart.Add(time.Duration(i) * 100 * time.Millisecond)}
	}
	for i := range 100 {
		judge(t, alone, numbered(i))
	}
	key := chatguard.Key{ChannelID: "c1", UserID: "user 1"}
	must(t, alone.SetUserOverride(t.Context(), key, chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 20}}}))
	_, err := alone.Grant(t.Context(), key, "daily", 7)
	must(t, err)
	server := newServer(t, shared.Exact, seedPolicy())
	server.now = sharedStart.Add(10 * time.Second)
	seeding := server.join()
	batch := alone.State().Dirty()
	for row := range batch.Rows() {
		must(t, seeding.State().Restore(row, server.now))
	}
	batch.Release()
	planned, err := seeding.Shared().Seed(t.Context(), true)
	if err != nil || planned.Written == 0 || planned.Kept != 0 {
		t.Fatalf("%+v, %v", planned, err)
	}
	if len(server.rows) > 0 {
		t.Errorf("the dry run has written %d rows", len(server.rows))
	}
	done, err := seeding.Shared().Seed(t.Context(), false)
	if err != nil || done != planned || len(server.rows) != planned.Written {
		t.Fatalf("%+v, %v; %d rows, planned %+v", done, err, len(server.rows), planned)
	}
	again, err := seeding.Shared().Seed(t.Context(), false)
	if err != nil || again.Written != 0 || again.Kept != planned.Written {
		t.Fatalf("%+v, %v", again, err)
	}
	other := server.join()
	for i := 100; i < 300; i++ {
		want, got := judge(t, alone, numbered(i)), judge(t, other, numbered(i))
		want.EntryID, got.EntryID = 0, 0
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("message %d:\n got %+v\nwant %+v", i, got, want)
		}
	}
}

func TestSeed_Refused(t *testing.T) {
	alone := mustNew(t, chatguard.DefaultPolicy(), nil)
	if _, err := alone.Shared().Seed(t.Context(), false); err == nil || err.Error() != "chatguard: the Guard has no shared store: set Options.Shared" {
		t.Error(err)
	}
}
