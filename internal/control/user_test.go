package control

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/limitinfo"
)

var anna = journal.Target{ChannelID: channel, UserID: "id of anna", Author: "berta"}

// Grants apply to a user's own limits, in any scope, and never to limits that everyone shares.
func TestGrant_OnlyOwnLimits(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		p := d.guard.Policy()
		p.Limits = append([]chatguard.Limit{
			{Name: "crowd", Algorithm: chatguard.DailyWindow, Per: chatguard.PerChannel, Messages: 9000},
			{Name: "copies", Algorithm: chatguard.DailyWindow, Per: chatguard.PerUserText, Messages: 9},
			{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 1, Every: time.Hour},
		}, p.Limits...)
		must(t, inner.At(d.guard, time.Now()).SetPolicy(p))
		for limit, want := range map[string]string{
			"":       "daily",
			"total":  "total",
			"crowd":  `the limit "crowd" is shared by everyone: choose a limit per user`,
			"copies": `the limit "copies" counts each text: choose a limit per user`,
			"other":  `there is no such limit: "other"`,
		} {
			_, _, err := d.Users.Grant(d.Context(), anna, limit, 2)
			e, explained := limitinfo.Explain(t.Context(), d.guard, chatguard.Message{ChannelID: channel, User: chatguard.User{ID: anna.UserID}})
			if explained != nil {
				t.Fatal(explained)
			}
			i := slices.IndexFunc(e.Limits, func(l limitinfo.Status) bool { return l.Name == want })
			if i >= 0 && (err != nil || e.Limits[i].Granted != 2) || i < 0 && (err == nil || journal.Sentence(err) != want) {
				t.Errorf("granted in %q: %v, %+v", limit, err, e.Limits)
			}
		}
		p.Limits = p.Limits[:1] // that everyone shares
		must(t, inner.At(d.guard, time.Now()).SetPolicy(p))
		if _, _, err := d.Users.Grant(d.Context(), anna, "", 2); err == nil || journal.Sentence(err) != "there is no such limit: no limit is per user" {
			t.Errorf("without a limit per user: %v", err)
		}
	})
}

// Amended is called once a change is in force, and only then.
func TestAmended_CalledOnceInForce(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		var told []string
		d.policies.Followers.Follow(&follower{amended: func(channelID, userID string) {
			told = append(told, fmt.Sprintf("%s %s %v", channelID, userID, d.say("anna").Allowed))
		}})
		own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 9}}}
		for name, amend := range map[string]func() (bool, error){
			"grant":    func() (bool, error) { _, saved, err := d.Users.Grant(d.Context(), anna, "burst", 1); return saved, err },
			"reset":    func() (bool, error) { return d.Users.Reset(d.Context(), anna) },
			"exempt":   func() (bool, error) { return exempting(time.Hour)(d) },
			"override": func() (bool, error) { return setting(own)(d) },
		} {
			must(t, errorOf(d.Users.SetOverride(d.Context(), anna, nil, chatguard.UserOverride{})))
			d.say("anna")
			told = nil
			if saved, err := amend(); !saved || err != nil || !slices.Equal(told, []string{"1 id of anna true"}) {
				t.Errorf("%s: saved %v, %v; told %q", name, saved, err, told)
			}
		}
		told = nil
		own.Limits["burst"] = chatguard.Override{Messages: 3}
		if _, err := d.Users.SetOverride(d.Context(), anna, nil, own); err == nil || told != nil {
			t.Errorf("a refused override: %v, told %q", err, told)
		}
	})
}

// A request that changes nothing is not recorded and not announced. The answer says whether the
// current state is stored.
func TestAmended_NoChange(t *testing.T) {
	for name, test := range map[string]struct {
		first, again func(d *harness) (bool, error)
	}{
		"exempt for less":    {exempting(time.Hour), exempting(time.Minute)},
		"exempt for good":    {exempting(0), exempting(0)},
		"pardoned twice":     {pardoning, pardoning},
		"the same override":  {overriding(4), overriding(4)},
		"no override at all": {overriding(0), overriding(0)},
	} {
		inBubble(t, Raid{}, func(d *harness) {
			d.say("anna")
			d.say("anna")
			if saved, err := test.first(d); !saved || err != nil {
				t.Fatalf("%s: saved %v, %v", name, saved, err)
			}
			noted := len(d.store.audits)
			d.policies.Followers.Follow(&follower{amended: func(_, userID string) { t.Errorf("%s: told of %s", name, userID) }})
			for _, unsaved := range []bool{false, true} {
				d.store.unsaved = unsaved
				if saved, err := test.again(d); saved == unsaved || err != nil {
					t.Errorf("%s, unsaved %v: saved %v, %v", name, unsaved, saved, err)
				}
			}
			if len(d.store.audits) != noted {
				t.Errorf("%s: in the audit %q", name, d.store.audits)
			}
		})
	}
}

func exempting(length time.Duration) func(*harness) (bool, error) {
	return func(d *harness) (bool, error) {
		done, err := d.Users.Exempt(d.Context(), anna, nil, length)
		return done.Saved, err
	}
}

func setting(own chatguard.UserOverride) func(*harness) (bool, error) {
	return func(d *harness) (bool, error) {
		done, err := d.Users.SetOverride(d.Context(), anna, nil, own)
		return done.Saved, err
	}
}

func pardoning(d *harness) (bool, error) {
	_, saved, err := d.Pardons.PardonEntry(d.Context(), d.store.last, "berta")
	return saved, err
}

// overriding sets an override of anna: a burst, and no exemption until a time that is given in
// another time zone. A burst of 0 removes the override.
func overriding(burst int) func(*harness) (bool, error) {
	return func(d *harness) (bool, error) {
		own := chatguard.UserOverride{}
		if burst > 0 {
			end := time.Now().Add(36 * time.Hour).In(time.FixedZone("", 3600))
			own = chatguard.UserOverride{Exempt: chatguard.ExemptNever, ExemptUntil: end, Limits: map[string]chatguard.Override{"burst": {Burst: burst}}}
		}
		return setting(own)(d)
	}
}

// In the audit a permanent exemption has no end.
func TestExempt_PermanentHasNoEnd(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		for length, want := range map[time.Duration]journal.Detail{
			time.Hour: journal.ExemptDetail{Until: time.Now().Add(time.Hour).UTC()},
			0:         nil,
		} {
			must(t, errorOf(d.Users.SetOverride(d.Context(), anna, nil, chatguard.UserOverride{})))
			if _, err := d.Users.Exempt(d.Context(), anna, nil, length); err != nil || !reflect.DeepEqual(d.store.detail, want) {
				t.Errorf("exempt for %v: %v, %v; want %v", length, d.store.detail, err, want)
			}
		}
	})
}

// TestSetOverride_RefusesAnotherThanWasSeen checks that the tag is compared while nobody else can
// change the override.
func TestSetOverride_RefusesAnotherThanWasSeen(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		seen := []string{policies.Tag(chatguard.UserOverride{})}
		first, err := d.Users.Exempt(d.Context(), anna, seen, time.Hour)
		if err != nil || policies.Tag(first.Former) != seen[0] || first.Now.Exempt != chatguard.ExemptAlways {
			t.Fatalf("%+v, %v", first, err)
		}
		if _, err := d.Users.Exempt(d.Context(), anna, seen, 0); !errors.Is(err, policies.ErrStale) {
			t.Errorf("exempt: %v", err)
		}
		if _, err := d.Users.SetOverride(d.Context(), anna, seen, chatguard.UserOverride{}); !errors.Is(err, policies.ErrStale) {
			t.Errorf("set: %v", err)
		}
		over, cancel := context.WithCancel(d.Context())
		cancel()
		d.policies.Followers.Follow(&follower{amended: func(string, string) {
			if end, err := d.Users.overriding.take(over, anna.Key()); !errors.Is(err, context.Canceled) {
				end()
				t.Error("somebody else may change the override meanwhile")
			}
		}})
		must(t, errorOf(d.Users.SetOverride(d.Context(), anna, []string{policies.Tag(first.Now)}, chatguard.UserOverride{})))
	})
}
