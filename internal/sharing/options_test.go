package sharing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/shared"
)

func TestShared_OptionsContradict(t *testing.T) {
	node := newServer(t, shared.Exact, enforced()).join()
	for want, opts := range map[string]*chatguard.Options{
		"SharedMode is \"7\"":  {Shared: node, SharedMode: "7"},
		"needs Options.Shared": {SharedMode: shared.Synchronised},
		"Now must be nil":      {Shared: node, Now: time.Now},
		"use shared.Exact or":  {SharedMode: "2"},
		"SharedRows is -1":     {Shared: node, SharedRows: -1},
	} {
		if guard, err := chatguard.New(enforced(), opts); guard != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Each Guard without a TextKey would hash texts with a key of its own, so nothing would be shared.
func TestShared_TextsNeedKey(t *testing.T) {
	repeats, none := strictTexts(), chatguard.Policy{}
	for name, opts := range map[string]*chatguard.Options{"alone": {}, "exact": {}, "synchronised": {SharedMode: shared.Synchronised}, "with a key": {TextKey: testKey}} {
		if name != "alone" {
			opts.Shared = newServer(t, shared.Exact, none).join()
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
	node := newServer(t, shared.Exact, enforced()).join()
	for want, opts := range map[shared.Mode]*chatguard.Options{"": {}, shared.Exact: {Shared: node}, shared.Synchronised: {Shared: node, SharedMode: shared.Synchronised}} {
		if got := mustNew(t, enforced(), opts).Shared().Mode(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
