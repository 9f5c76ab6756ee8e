package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/shared"
)

// lossyStore is a shared store whose replies to changes can be lost.
type lossyStore struct {
	awayStore
	rows map[[2]string][]byte
	lose bool
}

func (l *lossyStore) Overrides(context.Context, string) ([]string, error) { return nil, nil }

func (l *lossyStore) Swap(_ context.Context, swaps []*shared.Swap) {
	for _, s := range swaps {
		changes := false
		s.Done = true
		for i := range s.Rows {
			r := &s.Rows[i]
			r.Now = l.rows[[2]string{r.ChannelID, r.UserID}]
			s.Done = s.Done && bytes.Equal(r.Now, r.Was)
			changes = changes || !bytes.Equal(r.Was, r.Is)
		}
		if !s.Done || !changes {
			continue
		}
		for _, r := range s.Rows {
			l.rows[[2]string{r.ChannelID, r.UserID}] = r.Is
		}
		if l.lose {
			s.Done, s.Unknown, s.Err = false, true, errors.New("redisstore: 10.0.0.9:6379: i/o timeout")
		}
	}
}

// newLossyHarness returns a harness whose Guard shares rows in a lossyStore.
func newLossyHarness(t *testing.T) (*harness, *lossyStore) {
	d, rows := newHarness(t, Raid{}), &lossyStore{rows: map[[2]string][]byte{}}
	var err error
	if d.guard, err = chatguard.New(d.guard.Policy(), &chatguard.Options{Shared: rows}); err != nil {
		t.Fatal(err)
	}
	d.start(Raid{})
	return d, rows
}

// The audit has what may have been done, and the followers read the user again.
func TestCommand_Unconfirmed(t *testing.T) {
	for command, want := range map[string]string{
		"grant anna 5":    `{"action":"grant","detail":{"limit":"daily","messages":5}}`,
		"reset anna":      `{"action":"reset"}`,
		"exempt anna 10m": `{"action":"exempt","detail":{"until":"`,
	} {
		d, rows := newLossyHarness(t)
		rows.lose = true
		amended := 0
		d.policies.Followers.Follow(&follower{amended: func(string, string) { amended++ }})
		d.command("!chatguard "+command, "Not confirmed: the shared store's reply was lost. Check before you repeat it.")
		d.wantAudits("1 unconfirmed id of anna by twitch:berta")
		if text, err := json.Marshal(d.store.detail); err != nil || !strings.HasPrefix(string(text), want) || amended != 1 {
			t.Errorf("%s: the detail is %s, %v, want %s; %d times amended", command, text, err, want, amended)
		}
	}
}

func TestPardons_Unconfirmed(t *testing.T) {
	d, rows := newLossyHarness(t)
	d.say("anna")
	first, last := d.say("anna").EntryID, d.say("anna").EntryID

	rows.lose = true
	_, _, err := d.Pardons.PardonEntry(d.Context(), first, "token:berta")
	wantUnconfirmed(d, err, journal.UserPardoned, journal.EntryPardonDetail{Entry: first})
	_, _, err = d.Pardons.PardonUser(d.Context(), anna)
	wantUnconfirmed(d, err, journal.UserPardoned, journal.PardonDetail{First: first, Last: last, Messages: 2, Silence: journal.NotSilenced})

	d.say("anna")
	rows.lose = false
	done := d.pardonAnna()
	rows.lose = true
	_, _, err = d.Pardons.Undo(d.Context(), anna, done.ID)
	wantUnconfirmed(d, err, journal.UserUnpardoned, journal.UnpardonDetail{Pardon: done.ID, First: done.First, Last: done.Last, Messages: done.Messages, Strikes: done.Strikes})
}

func TestSwitches_Unconfirmed(t *testing.T) {
	all, nodes := newSharedNodes(t, 1)
	d := nodes[0]
	all.Err = shared.ErrUnconfirmed
	_, err := d.Switches.Pause(t.Context(), channel, "berta")
	d.wantAudits("1 unconfirmed  by berta")
	if want := (journal.UnconfirmedDetail{Action: journal.ChannelPaused}); !errors.Is(err, shared.ErrUnconfirmed) || !reflect.DeepEqual(d.store.detail, journal.Detail(want)) {
		t.Errorf("%v, the audit has %+v, want %+v", err, d.store.detail, want)
	}
}

// wantUnconfirmed fails the test unless a change has this error, and the audit has the change.
func wantUnconfirmed(d *harness, err error, action journal.AuditAction, detail journal.Detail) {
	d.Helper()
	text, broken := json.Marshal(detail)
	want := journal.UnconfirmedDetail{Action: action, Detail: text}
	if broken != nil || !errors.Is(err, shared.ErrUnconfirmed) || !reflect.DeepEqual(d.store.detail, journal.Detail(want)) {
		d.Errorf("%v, the audit has %+v, want %+v", err, d.store.detail, want)
	}
}
