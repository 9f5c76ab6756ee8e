package sharing_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/shared"
)

func TestShared_OptionsContradict(t *testing.T) {
	node, _ := newFakeServer().connect(enforcedDefault(), time.Now)
	for want, opts := range map[string]*chatguard.Options{
		"SharedMode is \"7\"":  {Shared: node, SharedMode: "7"},
		"needs Options.Shared": {SharedMode: shared.Synchronised},
		"Now must be nil":      {Shared: node, Now: time.Now},
		"use shared.Exact or":  {SharedMode: "2"},
		"SharedRows is -1":     {Shared: node, SharedRows: -1},
	} {
		if guard, err := chatguard.New(enforcedDefault(), opts); guard != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Each Guard without a TextKey would hash texts with a key of its own, so nothing would be shared.
func TestShared_TextsNeedKey(t *testing.T) {
	repeats, none := strictTexts(), chatguard.Policy{}
	for name, opts := range map[string]*chatguard.Options{"alone": {}, "exact": {}, "synchronised": {SharedMode: shared.Synchronised}, "with a key": {TextKey: testKey}} {
		if name != "alone" {
			opts.Shared, _ = newFakeServer().connect(none, sharedNoon)
		}
		_, err := chatguard.New(repeats, opts)
		guard := mustNew(t, none, opts)
		refused := name == "exact" || name == "synchronised"
		for _, err := range []error{err, guard.SetPolicy(repeats), guard.SetChannelPolicy("c", repeats), inner.Of(guard).ValidateChannelPolicy("c", repeats)} {
			mistake, ok := errors.AsType[*chatguard.PolicyError](err)
			if refused != ok || (err != nil) != ok || ok && (mistake.Parameter != "per" || !strings.Contains(mistake.Error(), "set Options.TextKey to the same secret")) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestShared_Mode(t *testing.T) {
	node, _ := newFakeServer().connect(enforcedDefault(), sharedNoon)
	for want, opts := range map[shared.Mode]*chatguard.Options{"": {}, shared.Exact: {Shared: node}, shared.Synchronised: {Shared: node, SharedMode: shared.Synchronised}} {
		if got := mustNew(t, enforcedDefault(), opts).Shared().Mode(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Nothing is pending in rows that the next exchange only reads.
func TestSharing_OwedAfterHeal(t *testing.T) {
	_, guard := newFakeServer().connect(enforcedDefault(), sharedNoon)
	checkEach(t, guard, 10)
	guard.Shared().Heal()
	if s := guard.Shared().Counts(); s.Pending != 0 || s.Rows != 10 {
		t.Errorf("%+v, want 10 rows with nothing pending", s)
	}
	if err := guard.Shared().Exchange(t.Context()); err != nil {
		t.Error(err)
	}
	if s := guard.Shared().Counts(); s.Exchanged != 10 {
		t.Errorf("%+v, want 10 rows looked at", s)
	}
}

// A row that can't be read is a problem until it can, and for at most ten minutes.
func TestSharing_ProblemEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		_, guard := server.connect(enforcedDefault(), sharedNoon)
		server.rows[[2]string{"c", "7"}] = []byte("not a row")
		if v := check(t, guard, "7"); !v.Degraded || !strings.Contains(guard.Shared().Counts().Problem, `user "7"`) {
			t.Errorf("%+v, problem %q", v, guard.Shared().Counts().Problem)
		}
		time.Sleep(10 * time.Minute)
		if s := guard.Shared().Counts(); s.Problem != "" || s.Unreadable != 1 {
			t.Errorf("ten minutes later: %+v", s)
		}
		check(t, guard, "7")
		delete(server.rows, [2]string{"c", "7"})
		check(t, guard, "8")
		if s := guard.Shared().Counts(); s.Problem == "" {
			t.Error("a message of another user has ended the problem")
		}
		check(t, guard, "7")
		if s := guard.Shared().Counts(); s.Problem != "" || s.Unreadable != 2 {
			t.Errorf("after the row was deleted: %+v", s)
		}
	})
}
