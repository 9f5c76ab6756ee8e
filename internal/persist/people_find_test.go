package persist

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// named are the users of the searches below, the last speaker first.
var named = []chatguard.User{
	{ID: "1", Login: "nagai", DisplayName: "長い"},
	{ID: "2", Login: "rene_b", DisplayName: "René"},
	{ID: "3", Login: "wide", DisplayName: "ＷＩＤＥ　Ｌoad"},
	{ID: "4", Login: "kana", DisplayName: "ｶﾞﾑ"},
	{ID: "5", Login: "Ölaf"},
	{ID: "6", Login: "hidden", DisplayName: "gh\u200bost\u202e"},
	{ID: "7", Login: "tinycricket", DisplayName: "TinyCricket"},
	{ID: "8", Login: "reneé"},
}

func TestFindPeople_Names(t *testing.T) {
	t.Parallel()
	now := start.Add(time.Minute)
	s, g := openWithGuard(t, &Options{Now: func() time.Time { return now }})
	for i, user := range named {
		at := start.Add(-time.Duration(i) * time.Second)
		s.Observe(chatguard.Message{ChannelID: "1", User: user, SentAt: at}, chatguard.Verdict{At: at, ChannelID: "1", UserID: user.ID, Allowed: true})
	}
	check := func(when string) {
		t.Helper()
		for text, want := range map[string]string{
			"長い": "1", "長": "1", "い": "1", "nagai": "1", "René": "2 8", "RENE": "2 8", "rene\u0301": "2 8", "ené": "2 8",
			"wide": "3", "ｗｉｄｅ": "3", "load": "3", "ガム": "4", "ｶﾞ": "4", "olaf": "5", "ÖL": "5", "öLAF": "5",
			"ghost": "6", "hid": "6", "tinyc": "7", "CRICKET": "7", "\u200b": "", "nobody": "", "%": "", "7": "7",
		} {
			wantPeople(t, when+": "+text, want)(s.FindPeople(ctx, "1", text, 9))
		}
	}
	check("pending")
	s.mustFlush(t, g)
	check("stored")
	now = start.Add(time.Hour)
	if _, err := s.sweeper.rollUp(ctx, now); err != nil {
		t.Fatal(err)
	}
	check("rolled up")
	if p, _, err := s.Person(ctx, "1", "7"); err != nil || p.DisplayName != "TinyCricket" {
		t.Errorf("%+v, %v", p, err)
	}
}

// Many matches are found as well as few.
func TestFindPeople_Many(t *testing.T) {
	t.Parallel()
	s := open(t, newDatabase(t), &Options{Now: at(start)})
	s.exec(t, `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2 * ?1)
		INSERT INTO person (channel_id, user_id, login, roles, last_seen, display_name, name_key) SELECT '1', 'id' || i, 'login' || i, 0, i, '長' || i, '長' || i FROM n`, fewMatches)
	last := fmt.Sprintf("id%d id%d", 2*fewMatches, 2*fewMatches-1)
	for text, want := range map[string]string{"": last, "login": last, "LOG": last, "ogin": last, "長": last, "login1234": "id1234", "長1234": "id1234", "9999": "id9999"} {
		wantPeople(t, text, want)(s.FindPeople(ctx, "1", text, 2))
	}
}

// The journal of an older database has the names of the people in it.
func TestMigrate_NamesOfVersion6(t *testing.T) {
	t.Parallel()
	path := newOldDatabase(t, 6, `INSERT INTO person VALUES ('c1', '1', 'nagai', 0, 1), ('c1', '2', 'renamed', 0, 1), ('c1', '3', 'anna', 0, 1), ('c1', '4', 'Ölaf', 0, 1);
		INSERT INTO journal SELECT id, 1, 'c1', user, login, name, '', '', 'burst', NULL, NULL, 1, 'delete', 1, 'delete', 'done', '', 1, 0, 0, 0, 0 FROM (
			SELECT 1 AS id, '1' AS user, 'nagai' AS login, '短い' AS name UNION ALL SELECT 2, '1', 'nagai', '長い'
			UNION ALL SELECT 3, '2', 'former', 'Former' UNION ALL SELECT 4, '3', 'anna', 'anna')`)
	s := open(t, path, &Options{Now: at(start)})
	people, err := s.People(ctx, "c1", []string{"1", "2", "3", "4"})
	if err != nil || people["1"].DisplayName != "長い" || people["2"].DisplayName != "" || people["3"].DisplayName != "" {
		t.Errorf("%+v, %v", people, err)
	}
	for text, want := range map[string]string{"長": "1", "olaf": "4"} {
		wantPeople(t, text, want)(s.FindPeople(ctx, "c1", text, 9))
	}
}
