//go:build !race

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
)

// Limits that need much memory per user are previewed in groups of users, as
// simulate.TestJudge_GroupsOfUsers checks. If one of the limits is shared by all users, such a
// preview is refused.
func TestPreview_MemoryBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills the budget for seconds")
	}
	d := dash(t)
	began := d.now().Add(-5 * time.Hour)
	for i := range 1000 {
		d.recordPast(chatguard.User{ID: fmt.Sprint(1000 + i)}, began.Add(time.Duration(i)*time.Second))
	}
	large := func(p *chatguard.Policy) {
		p.Limits = nil
		for _, name := range []string{"one", "two", "three", "four"} {
			p.Limits = append(p.Limits, chatguard.Limit{Name: name, Algorithm: chatguard.SlidingLog, Messages: 1000, Every: time.Hour})
		}
	}
	one := func(p *chatguard.Policy) { large(p); p.Limits = p.Limits[:1] }
	if p := decode[previewed](t, d.try(one)); p.Users != 1000 || p.Candidate.ThrottledMessages != 0 {
		t.Errorf("%+v", p)
	}
	joined := func(p *chatguard.Policy) {
		large(p)
		p.Limits = append(p.Limits, chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 600, Every: time.Minute})
	}
	refused := func(a answer, which string) {
		t.Helper()
		want := which + " need 38 MiB for 1000 users; a preview has 32 MiB. Preview fewer hours, or use a smaller sliding log: it takes 8 bytes per message and user."
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(string(a.body), want) {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	refused(d.try(joined), "The proposed limits")
	policy := d.guard.ChannelPolicy(channelID)
	joined(&policy)
	if err := inner.At(d.guard, d.now()).SetChannelPolicy(channelID, policy); err != nil {
		t.Fatal(err)
	}
	refused(d.try(burst(2), func(body map[string]any) { body["policy"] = config.DefaultPolicy() }), "The limits in force")
}
