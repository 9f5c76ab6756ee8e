package sharing_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
)

func TestShared_OptionsContradict(t *testing.T) {
	node, _ := newFakeServer().connect(enforcedDefault(), time.Now)
	for want, opts := range map[string]*chatguard.Options{
		"ShareMode is 7":        {Shared: node, ShareMode: 7},
		"needs Options.Shared":  {ShareMode: chatguard.ShareSynchronised},
		"Now must be nil":       {Shared: node, Now: time.Now},
		"ShareMode is 2: use S": {ShareMode: 2},
		"SharedRows is -1":      {Shared: node, SharedRows: -1},
	} {
		if guard, err := chatguard.New(enforcedDefault(), opts); guard != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Nothing is pending in rows that the next exchange only reads.
func TestSharing_OwedAfterHeal(t *testing.T) {
	_, guard := newFakeServer().connect(enforcedDefault(), sharedNoon)
	checkEach(t, guard, 10)
	guard.Heal()
	if s := guard.Sharing(); s.Pending != 0 || s.Rows != 10 {
		t.Errorf("%+v, want 10 rows with nothing pending", s)
	}
	if err := guard.Exchange(t.Context()); err != nil {
		t.Error(err)
	}
	if s := guard.Sharing(); s.Exchanged != 10 {
		t.Errorf("%+v, want 10 rows looked at", s)
	}
}

// A row that couldn't be read is a problem for ten minutes.
func TestSharing_ProblemEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		_, guard := server.connect(enforcedDefault(), sharedNoon)
		server.rows[[2]string{"c", "7"}] = []byte("not a row")
		if v := check(t, guard, "7"); !v.Degraded || !strings.Contains(guard.Sharing().Problem, `user "7"`) {
			t.Errorf("%+v, problem %q", v, guard.Sharing().Problem)
		}
		time.Sleep(10 * time.Minute)
		if s := guard.Sharing(); s.Problem != "" || s.Unreadable != 1 {
			t.Errorf("ten minutes later: %+v", s)
		}
	})
}
