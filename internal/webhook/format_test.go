package webhook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/chatguard/chatguard/internal/hostile"
)

var (
	evening = time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	many    = 1204
	some    = 310
)

// Every event as both formats describe it.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Kind: Raid, Channel: channel, Raid: &RaidChange{On: true, Until: evening, By: "twitch:mod_anna"}},
			`#somechannel: Raid mode is on|mod\_anna started raid mode. It ends <t:1773518400:f>.`},
		{Event{Kind: Raid, Channel: channel, Raid: &RaidChange{On: true, Until: evening, Rate: 41.6, By: "chatguard"}},
			`#somechannel: Raid mode is on|It started by itself, at 42 messages per second. It ends <t:1773518400:f>.`},
		{Event{Kind: Raid, Raid: &RaidChange{By: "token:owner"}}, `Raid mode is over|owner ended raid mode. The usual limits apply again.`},
		{Event{Kind: Raid, Raid: &RaidChange{}}, `Raid mode is over|It ended by itself. The usual limits apply again.`},
		{pauseBy("anna"), `#somechannel: Paused|anna paused chatguard. Nobody is throttled until somebody resumes.`},
		{Event{Kind: Pause, Pause: &PauseChange{By: "anna"}}, `Resumed|anna resumed chatguard. The limits apply again.`},
		{Event{Kind: Failure, Failure: &FailureChange{Name: "database", State: "failing", Detail: "the disk is full: free some space", Since: evening}},
			`Database fails|Failing, since <t:1773518400:f>.|the disk is full\: free some space`},
		{Event{Kind: Failure, Failure: &FailureChange{Over: true, Name: "Twitch", Since: evening, Until: evening.Add(time.Minute)}},
			`Twitch works again|It failed from <t:1773518400:f> until <t:1773518460:f>.`},
		{Event{Kind: Limits, Limits: &LimitsChange{Revision: 3, By: "anna", Mode: "enforce", Changes: []ChangedKey{{"limit.burst.burst", "3", "5"}}, More: 2}},
			`The limits have changed|anna changed the limits (revision 3).|The limits are enforced.|limit\.burst\.burst: 3 → 5|Further changes: 2`},
		{Event{Kind: Limits, Limits: &LimitsChange{Mode: "observe"}},
			`The limits have changed|The configuration was loaded again.|The limits only observe.|Nothing differs from before.`},
		{Event{Kind: Ban, Bans: []BannedUser{
			{UserID: "1", Login: "spammer", DisplayName: "Spammer", By: "anna", Reason: "links"}, {UserID: "2", Login: "other", DisplayName: "Öther", Limit: "burst"}, {UserID: "3", Unknown: true},
		}}, `Banned|Spammer, by anna: links|Öther (other), by chatguard, after strikes in the limit burst|3, by chatguard; whether Twitch carried it out is unknown`},
		{Event{Kind: Summary, Channel: channel, Summary: &StreamSummary{
			From: evening, Until: evening.Add(time.Hour), Messages: &many, Users: &some, Throttled: 80, ThrottledUsers: 9, Observed: 4, TimedOut: 2, Banned: 1,
			Top: []TopUser{{"1", "spammer", 40}, {"2", "", 3}},
		}}, `#somechannel: The stream is over|From <t:1773518400:f> until <t:1773522000:f>.|Messages: 1204. Users: 310.|Throttled messages: 80. Throttled users: 9.|` +
			`Messages that would have been throttled: 4.|Timed out: 2. Banned: 1. Pardoned: 0.|Throttled most: spammer (40), 2 (3).`},
		{Event{Kind: Test, Test: true}, `Test|This is a test of this webhook. Nothing has happened.`},
	} {
		m := discordMessage(&c.event)
		if got := m.Embeds[0].Title + "|" + strings.ReplaceAll(m.Embeds[0].Description, "\n", "|"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if text := sentence(&c.event); strings.ContainsAny(text, "\n{}\\") || strings.Contains(text, "<t:") {
			t.Errorf("the text is %q", text)
		}
	}
}

func TestCatalogue_PlaceholdersFilled(t *testing.T) {
	for key, text := range english {
		if strings.Count(text, "{") != strings.Count(text, "}") || text == "" {
			t.Errorf("%s: %q", key, text)
		}
	}
}

// Names come from a chat, and anybody can choose theirs.
func TestFormats_HostileNames(t *testing.T) {
	evil := "\u202e**@everyone** <@1> <@&2> <#3> <t:0:R> [x](https://evil.example) `c` ||s|| ~~d~~ _i_\r\n# h\n> q\x00\x1b[31m:skull: {who} discord.gg/x \u2066\U0001F600" + strings.Repeat("y", 5000)
	e := Event{Kind: Ban, Channel: &Channel{ID: "7", Login: evil}, At: evening, Node: evil}
	for range MaxBans {
		e.Bans = append(e.Bans, BannedUser{UserID: "1", Login: evil, DisplayName: "B" + evil, By: evil, Reason: evil})
	}
	e.clean()
	e.Text = sentence(&e)
	e.Bans[0] = BannedUser{UserID: "check:\u202e7"}
	for _, format := range Formats {
		body, err := format.body(&e)
		must(t, err)
		if strings.ContainsFunc(string(body), hostile.IsInvisible) {
			t.Errorf("%s: invisible characters in the body", format)
		}
		var value any
		must(t, json.Unmarshal(body, &value))
		if format == Signed {
			bans := value.(map[string]any)["bans"].([]any)
			if id := bans[0].(map[string]any)["user_id"]; id != "check:\u202e7" {
				t.Errorf("the ID is %q", id)
			}
			delete(bans[0].(map[string]any), "user_id")
		}
		eachText(value, func(text string) {
			if strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), hostile.IsInvisible) {
				t.Errorf("%s: invisible characters in %.200q", format, text)
			}
		})
		if len(body) > 40_000 {
			t.Errorf("%s: %d bytes", format, len(body))
		}
	}
	m := discordMessage(&e)
	data, err := json.Marshal(m)
	must(t, err)
	if !strings.Contains(string(data), `"allowed_mentions":{"parse":[]}`) {
		t.Errorf("mentions are allowed: %s", data)
	}
	shown := m.Embeds[0]
	for text, most := range map[string]int{shown.Title: maxTitle, shown.Description: maxDescription, shown.Footer.Text: 2048} {
		if n := len(utf16.Encode([]rune(text))); n > most || n == 0 {
			t.Errorf("%d characters, at most %d: %.100q", n, most, text)
		}
	}
	for _, bad := range []string{"**", "@everyone", "<@", "<#", "<t:", "](", "://", "`", "||", "~~", ":skull:"} {
		if clean := strings.ReplaceAll(shown.Title+shown.Description, `\`+bad[:1], ""); strings.Contains(clean, bad) {
			t.Errorf("%s isn't escaped in %.300q", bad, shown.Title)
		}
	}
}

// eachText calls do with each text of a JSON value.
func eachText(value any, do func(string)) {
	switch v := value.(type) {
	case string:
		do(v)
	case []any:
		for _, element := range v {
			eachText(element, do)
		}
	case map[string]any:
		for _, element := range v {
			eachText(element, do)
		}
	}
}
