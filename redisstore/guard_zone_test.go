package redisstore

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// Nodes agree on the day of an author's zone. The row outlives the day by another one, so that no
// zone gives more messages.
func TestGuards_Timezone(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	nodes := startNodes(t, r.URL(), 2, enforced(chatguard.DailyWindowLimit("daily", 4)), Options{}, shared.Exact)
	year, month, day := time.Now().UTC().Date()
	noon := time.Date(year, month, day+1, 12, 0, 0, 0, time.UTC) // no midnight passes during the test
	midnight := noon.Add(3 * time.Hour)                          // in Tokyo
	check := func(n node, zone string, at time.Time, left int, ends time.Time) {
		t.Helper()
		v, err := n.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "7", Timezone: zone}, SentAt: at})
		if err != nil || v.Degraded || v.Remaining != left || !v.ResetAt.Equal(ends) {
			t.Errorf("%d left until %v, degraded %v, %v; want %d until %v", v.Remaining, v.ResetAt, v.Degraded, err, left, ends)
		}
	}
	check(nodes[0], "Asia/Tokyo", noon, 3, midnight)
	check(nodes[1], "", noon, 2, midnight)
	check(nodes[0], "America/Lima", noon, 1, midnight)
	check(nodes[1], "Asia/Tokyo", midnight, 3, midnight.Add(24*time.Hour))
	check(nodes[0], "", midnight, 2, midnight.Add(24*time.Hour))
	stays := time.UnixMilli(r.integer("PEXPIRETIME", "cg1:{u:7}:c:lobby")).Sub(midnight)
	if stays < 48*time.Hour || stays > 48*time.Hour+time.Minute+time.Second {
		t.Errorf("the row expires %v after midnight, want two days", stays)
	}
}
