package control

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// made records what watchers receive, as text.
type made struct{ got []string }

func (m *made) watch(a journal.Audit) {
	text := fmt.Sprintf("%s by %s", a.Action, a.Author)
	if done, ok := journal.DetailOf[journal.PolicyDetail](a); ok {
		text += fmt.Sprintf(", revision %d with %d changes to %s", done.Revision, len(done.Difference), done.Mode)
	}
	m.got = append(m.got, text)
}

func (m *made) want(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(m.got, "; "); got != strings.Join(want, "; ") {
		t.Errorf("got  %s\nwant %s", got, strings.Join(want, "; "))
	}
}

func TestWatch(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		m := &made{}
		d.policies.Followers.Watch(m.watch)
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume.")
		must(t, errorOf(d.Commands.setMode(d.Context(), channel, "anna", chatguard.ModeObserve)))
		must(t, errorOf(d.policies.Discard(d.Context(), policies.Request{ChannelID: channel, Author: "anna"})))
		_, _, err := d.Raids.Start(d.Context(), channel, "anna", time.Second)
		must(t, err)
		time.Sleep(2 * time.Second)
		d.Raids.endDue(d.Context())
		m.want(t, "pause by twitch:berta", "policy by anna, revision 1 with 1 changes to observe",
			"discard by anna, revision 2 with 1 changes to enforce", "raid by anna", "raid by chatguard")
	})
}
