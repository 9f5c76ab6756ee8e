package journal

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// readAs returns the detail of a record as a T, or nil.
func readAs[T Detail](a Audit) any {
	if d, ok := DetailOf[T](a); ok {
		return d
	}
	return nil
}

var (
	eight  = time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	lost   = 2
	sent   = false
	former = &Silence{Until: eight, By: "twitch:carl"}
)

// stored are details as they are stored, by action, and the types that read them.
var stored = []struct {
	action AuditAction
	text   string
	want   Detail
	read   func(Audit) any
}{
	{PolicyChanged, `{"revision":7}`, PolicyDetail{Revision: 7}, readAs[PolicyDetail]},
	{PolicyDiscarded, `{"revision":8}`, PolicyDetail{Revision: 8}, readAs[PolicyDetail]},
	{UserGranted, `{"limit":"daily","messages":5,"until":"2026-03-14T20:00:00Z"}`, GrantDetail{"daily", 5, eight}, readAs[GrantDetail]},
	{UserReset, `null`, nil, readAs[Detail]},
	{
		UserPardoned, `{"dropped":1,"first":11,"last":13,"messages":3,"pardon":99,"silence":"lifted","strikes":0}`,
		PardonDetail{1, 11, 13, 3, 99, SilenceLifted, 0, false}, readAs[PardonDetail],
	},
	{UserPardoned, `{"entry":11,"pardon":99}`, EntryPardonDetail{11, 99, false}, readAs[EntryPardonDetail]},
	{UserUnpardoned, `{"first":11,"last":13,"messages":3,"pardon":99,"strikes":2}`, UnpardonDetail{11, 13, 3, 99, 2}, readAs[UnpardonDetail]},
	{
		UserOverridden, `{"from":{},"to":{"exempt":"always","exempt_until":"2026-03-14T20:00:00Z"}}`,
		Replaced[chatguard.UserOverride]{To: chatguard.UserOverride{Exempt: chatguard.ExemptAlways, ExemptUntil: eight}}, readAs[Replaced[chatguard.UserOverride]],
	},
	{UserExempted, `{"until":"2026-03-14T20:00:00Z"}`, ExemptDetail{eight}, readAs[ExemptDetail]},
	{UserNoted, `{"by":"berta","note":4}`, NoteDetail{"berta", 4}, readAs[NoteDetail]},
	{NoteDeleted, `{"by":"berta","note":4}`, NoteDetail{"berta", 4}, readAs[NoteDetail]},
	{ChannelPaused, `null`, nil, readAs[Detail]},
	{ChannelResumed, `null`, nil, readAs[Detail]},
	{RaidSwitched, `{"until":"2026-03-14T20:00:00Z"}`, RaidDetail{Until: eight}, readAs[RaidDetail]},
	{RaidSwitched, `{"messages_per_second":21,"until":"2026-03-14T20:00:00Z"}`, RaidDetail{21, eight}, readAs[RaidDetail]},
	{RaidSwitched, `null`, nil, readAs[Detail]},
	{
		ChatModesChanged, `{"follower_mode":true,"follower_mode_duration":10,"slow_mode":false}`,
		ChatModesChange{FollowerMode: new(true), FollowerModeDuration: new(10), SlowMode: new(false)}, readAs[ChatModesChange],
	},
	{SettingsChanged, `{"from":"10m0s","to":"1h0m0s"}`, Replaced[string]{"10m0s", "1h0m0s"}, readAs[Replaced[string]]},
	{BotConnected, `{"account":"chatguard_bot"}`, LoginDetail{"chatguard_bot"}, readAs[LoginDetail]},
	{
		UserTimedOut, `{"former":{"banned":false,"until":"2026-03-14T20:00:00Z","by":"twitch:carl"},"length":"1h30m0s","reason":"spam","until":"2026-03-14T20:00:00Z"}`,
		TimeoutDetail{Former: former, Length: "1h30m0s", Reason: "spam", Until: eight}, readAs[TimeoutDetail],
	},
	{
		UserTimedOut, `{"by":"chatguard","length":"10m0s","restored":true,"until":"2026-03-14T20:00:00Z"}`,
		TimeoutDetail{By: ProgramAuthor, Length: "10m0s", Restored: true, Until: eight}, readAs[TimeoutDetail],
	},
	{UserTimedOut, `{"length":"10m0s","until":"2026-03-14T20:00:00Z"}`, TimeoutDetail{Length: "10m0s", Until: eight}, readAs[TimeoutDetail]},
	{UserBanned, `{"reason":"links"}`, BanDetail{Reason: "links"}, readAs[BanDetail]},
	{UserBanned, `{}`, BanDetail{}, readAs[BanDetail]},
	{UserLifted, `{"banned":true,"former":{"banned":true,"by":""}}`, LiftDetail{true, &Silence{Banned: true}}, readAs[LiftDetail]},
	{UserLifted, `{"banned":false}`, LiftDetail{}, readAs[LiftDetail]},
	{
		WebhookChanged, `{"did":"changed","events":["ban","raid"],"format":"signed","host":"example.com","name":"ours","new_secret":true}`,
		WebhookDetail{Did: "changed", Events: []string{"ban", "raid"}, Format: "signed", Host: "example.com", Name: "ours", NewSecret: true}, readAs[WebhookDetail],
	},
	{WebhookChanged, `{"deliveries":2,"did":"deleted","name":"ours"}`, WebhookDetail{Deliveries: &lost, Did: "deleted", Name: "ours"}, readAs[WebhookDetail]},
	{WebhookChanged, `{"delivered":false,"did":"tested","name":"ours"}`, WebhookDetail{Delivered: &sent, Did: "tested", Name: "ours"}, readAs[WebhookDetail]},
	{WebhookChanged, `{"did":"discarded","event":"ban","name":"ours"}`, WebhookDetail{Did: "discarded", Event: "ban", Name: "ours"}, readAs[WebhookDetail]},
	{
		Unconfirmed, `{"action":"grant","detail":{"limit":"daily","messages":5}}`,
		UnconfirmedDetail{UserGranted, json.RawMessage(`{"limit":"daily","messages":5}`)}, readAs[UnconfirmedDetail],
	},
	{Unconfirmed, `{"action":"reset"}`, UnconfirmedDetail{Action: UserReset}, readAs[UnconfirmedDetail]},
	{TokenMade, `{"expires":"2026-03-14T20:00:00Z","name":"anna","role":"help"}`, TokenDetail{eight, "anna", "help"}, readAs[TokenDetail]},
	{TokenMade, `{"name":"anna","role":"help"}`, TokenDetail{Name: "anna", Role: "help"}, readAs[TokenDetail]},
	{TokenEnded, `{"links":0,"name":"anna","sessions":3,"tokens":1}`, RevokedDetail{0, "anna", 3, 1}, readAs[RevokedDetail]},
	{LinkMade, `{"name":"anna","role":"help"}`, TokenDetail{Name: "anna", Role: "help"}, readAs[TokenDetail]},
	{LinkEnded, `{"from":"link","name":"anna","role":"help"}`, SignInDetail{"link", "anna", "help"}, readAs[SignInDetail]},
	{SessionEnded, `{"from":"token","name":"anna","role":"help"}`, SignInDetail{"token", "anna", "help"}, readAs[SignInDetail]},
}

// TestDetail_Stored checks that a detail of each action is written as it always was, and that rows
// of earlier versions are read.
func TestDetail_Stored(t *testing.T) {
	seen := map[AuditAction]bool{}
	for _, c := range stored {
		seen[c.action] = true
		if text, err := json.Marshal(c.want); err != nil || string(text) != c.text {
			t.Errorf("%s: %s, %v, want %s", c.action, text, err, c.text)
		}
		if c.want == nil {
			continue
		}
		if got := c.read(Audit{Action: c.action, Detail: StoredDetail(c.text)}); !reflect.DeepEqual(got, any(c.want)) {
			t.Errorf("%s: read %+v, want %+v", c.action, got, c.want)
		}
		if got := c.read(Audit{Action: c.action, Detail: c.want}); !reflect.DeepEqual(got, any(c.want)) {
			t.Errorf("%s: before it is stored %+v, want %+v", c.action, got, c.want)
		}
	}
	for _, action := range AuditActions {
		if !seen[action] {
			t.Errorf("no detail of %s", action)
		}
	}
}

// TestStoredDetail_Sent checks what callers of the API get, which is sorted and exact.
func TestStoredDetail_Sent(t *testing.T) {
	for text, want := range map[string]string{
		`{"to":{"raid":1},"from":{"raid":2,"notices":3}}`: `{"from":{"notices":3,"raid":2},"to":{"raid":1}}`,
		`{"n":9007199254740993}`:                          `{"n":9007199254740993}`,
		`null`:                                            `null`,
		`somebody has edited <this>`:                      `"somebody has edited \u003cthis\u003e"`,
	} {
		if got, err := json.Marshal(Audit{Detail: StoredDetail(text)}); err != nil || !json.Valid(got) || string(got) != `{"id":0,"at":"0001-01-01T00:00:00Z","author":"","action":"","channel":"","user_id":"","detail":`+want+`}` {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// TestPardonedEntries checks all forms in which pardons have been stored.
func TestPardonedEntries(t *testing.T) {
	for _, c := range []struct {
		action      AuditAction
		detail      Detail
		first, last chatguard.EntryID
		ok          bool
	}{
		{UserPardoned, StoredDetail(`{"entry":11}`), 11, 11, true},
		{UserPardoned, StoredDetail(`{"entry":11,"pardon":99}`), 11, 11, true},
		{UserPardoned, StoredDetail(`{"dropped":0,"first":11,"last":13,"messages":3,"pardon":99,"silence":"none","strikes":1}`), 11, 13, true},
		{UserUnpardoned, StoredDetail(`{"first":11,"last":13,"messages":3,"pardon":99,"strikes":1}`), 11, 13, true},
		{UserPardoned, StoredDetail(`{}`), 0, 0, false},
		{UserPardoned, StoredDetail(`"edited"`), 0, 0, false},
		{UserGranted, StoredDetail(`{"entry":11}`), 0, 0, false},
	} {
		first, last, ok := PardonedEntries(Audit{Action: c.action, Detail: c.detail})
		if first != c.first || last != c.last || ok != c.ok {
			t.Errorf("%s %s: %d to %d, %v", c.action, c.detail, first, last, ok)
		}
	}
}
