package irc

import (
	"bufio"
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/roles"
)

// privmsg returns a line with the given tags after those that every message has.
func privmsg(tags string) string {
	return "@id=m1;room-id=10;user-id=20;tmi-sent-ts=1568505600501;" + tags + " :ann!ann@ann.tmi.twitch.tv PRIVMSG #room :hi there"
}

func TestParse(t *testing.T) {
	plain := chat.Message{Message: chatguard.Message{
		ID: "m1", ChannelID: "10", Text: "hi there", SentAt: time.UnixMilli(1568505600501),
		User: chatguard.User{ID: "20", Login: "ann"},
	}}
	with := func(change func(*chat.Message)) chat.Message {
		m := plain
		change(&m)
		return m
	}
	having := func(list ...chatguard.Role) chat.Message {
		return with(func(m *chat.Message) { m.User.Roles = list })
	}
	named := func(name string) chat.Message {
		return with(func(m *chat.Message) { m.User.DisplayName = name })
	}
	colored := func(color string) chat.Message {
		return with(func(m *chat.Message) { m.Color = color })
	}
	for name, c := range map[string]struct {
		line string
		want chat.Message
	}{
		"plain":                   {privmsg(""), plain},
		"line end":                {privmsg("") + "\r\n", plain},
		"broadcaster":             {privmsg("badges=broadcaster/1,subscriber/12"), having(roles.Broadcaster, roles.Subscriber)},
		"moderator by badge":      {privmsg("badges=moderator/1;mod=1"), having(chatguard.RoleModerator)},
		"mod=1 alone":             {privmsg("badges=;mod=1"), having(chatguard.RoleModerator)},
		"lead moderator":          {privmsg("badges=lead_moderator/1;mod=0"), having(roles.LeadModerator)},
		"vip":                     {privmsg("badges=vip/1;vip=1"), having(roles.VIP)},
		"founder":                 {privmsg("badges=founder/0"), having(roles.Subscriber)},
		"first message":           {privmsg("first-msg=1"), having(roles.FirstTimer)},
		"not the first":           {privmsg("first-msg=0;returning-chatter=1"), plain},
		"unknown badges":          {privmsg("badges=premium/1,sub-gifter/5"), plain},
		"display name":            {privmsg("display-name=Ann"), named("Ann")},
		"space at its end":        {privmsg(`display-name=Ann\s`), named("Ann")},
		"escaped backslash and s": {privmsg(`display-name=A\\sn`), named(`A\sn`)},
		"escaped semicolon":       {privmsg(`display-name=A\:n\`), named("A;n")},
		"color":                   {privmsg("color=#1E90ff"), colored("#1E90ff")},
		"no color":                {privmsg("color="), plain},
		"color's name":            {privmsg("color=red"), plain},
		"long color":              {privmsg("color=#1E90FF00"), plain},
		"control in color":        {privmsg(`color=#1E90F\n`), plain},
		"shared chat":             {privmsg("source-id=m0;source-room-id=11;source-badges="), with(func(m *chat.Message) { m.SourceChannelID = "11" })},
		"no time":                 {strings.Replace(privmsg(""), "tmi-sent-ts=1568505600501;", "", 1), with(func(m *chat.Message) { m.SentAt = time.Time{} })},
		"a time that is none":     {privmsg("tmi-sent-ts=soon"), with(func(m *chat.Message) { m.SentAt = time.Time{} })},
		"a time past all bounds":  {privmsg("tmi-sent-ts=9223372036854775807"), with(func(m *chat.Message) { m.SentAt = time.Time{} })},
		"nick without user":       {strings.Replace(privmsg(""), "ann!ann@ann", "ann@ann", 1), plain},
		"nick, not user name":     {strings.Replace(privmsg(""), "ann!ann@", "ann!other@", 1), plain},
		"spaces in the text":      {strings.Replace(privmsg(""), "hi there", " a  : b ", 1), with(func(m *chat.Message) { m.Text = " a  : b " })},
		"action":                  {strings.Replace(privmsg(""), "hi there", "\x01ACTION waves\x01", 1), with(func(m *chat.Message) { m.Text = "waves" })},
		"emotes past the text":    {privmsg("emotes=25:0-4,100-104"), plain},
	} {
		got, ok, err := Parse(c.line)
		if err != nil || !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v, %v\nwant %+v", name, got, ok, err, c.want)
		}
	}
}

// TestParse_Broken checks that optional fields that can't be read neither prevent a message from
// being judged nor give its author a role.
func TestParse_Broken(t *testing.T) {
	moderator, vip := chatguard.Roles{chatguard.RoleModerator}, chatguard.Roles{roles.VIP}
	for name, c := range map[string]struct {
		line  string
		roles chatguard.Roles
		name  string // display name
		text  string
	}{
		"badge without slash":           {privmsg("badges=vip"), nil, "", "hi there"},
		"moderator without slash":       {privmsg("badges=moderator;display-name=Ann"), nil, "Ann", "hi there"},
		"badge without version":         {privmsg("badges=moderator/"), nil, "", "hi there"},
		"one of several badges":         {privmsg("badges=vip/1,broadcaster,,/,moderator/1"), chatguard.Roles{roles.Moderator, roles.VIP}, "", "hi there"},
		"mod=1 beside a broken badge":   {privmsg("badges=premium;mod=1"), moderator, "", "hi there"},
		"first beside a broken badge":   {privmsg("badges=premium;first-msg=1"), chatguard.Roles{roles.FirstTimer}, "", "hi there"},
		"source badge without slash":    {privmsg("badges=vip/1;source-id=m1;source-room-id=10;source-badges=moderator"), vip, "", "hi there"},
		"empty source badge":            {privmsg("source-id=m1;source-badges="), nil, "", "hi there"},
		"emote that ends first":         {privmsg("emotes=25:4-0;badges=vip/1"), vip, "", "hi there"},
		"emote before the text":         {privmsg("emotes=25:-1-3"), nil, "", "hi there"},
		"emote past an empty text":      {strings.Replace(privmsg("emotes=25:0-4"), "hi there", "", 1), nil, "", ""},
		"emote in a /me":                {strings.Replace(privmsg("emotes=25:4-0"), "hi there", "\x01ACTION waves\x01", 1), nil, "", "waves"},
		"control in the source room":    {privmsg("source-room-id=1\x001"), nil, "", "hi there"},
		"invalid UTF-8 in the text":     {privmsg("badges=vip/1") + "\xff!", vip, "", "hi there\ufffd!"},
		"invalid UTF-8 in a badge":      {privmsg("badges=moder\xffator/1,vip/1"), vip, "", "hi there"},
		"invalid UTF-8 in the name":     {privmsg("display-name=A\xffn"), nil, "A\ufffdn", "hi there"},
		"invalid UTF-8 and a bad badge": {privmsg("badges=vip/1,moderator;color=\xff"), vip, "", "hi there"},
		"escaped CR in name":            {privmsg(`display-name=An\rn`), nil, "", "hi there"},
		"escaped LF at end":             {privmsg(`display-name=Ann\n`), nil, "", "hi there"},
		"raw CR in name":                {privmsg("display-name=An\rn"), nil, "", "hi there"},
		"bell in name":                  {privmsg("display-name=An\an"), nil, "", "hi there"},
		"C1 control in name":            {privmsg("display-name=An\u0085n"), nil, "", "hi there"},
	} {
		want := chatguard.Message{
			ID: "m1", ChannelID: "10", Text: c.text, SentAt: time.UnixMilli(1568505600501),
			User: chatguard.User{ID: "20", Login: "ann", DisplayName: c.name, Roles: c.roles},
		}
		if got, ok, err := Parse(c.line); err != nil || !ok || got.SourceChannelID != "" && got.SourceChannelID != "10" {
			t.Errorf("%s: %+v, %v", name, got, err)
		} else if got.SourceChannelID = ""; !reflect.DeepEqual(got, chat.Message{Message: want}) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
	if m, _, err := Parse(strings.Replace(privmsg(""), ":ann!", ":a\rn!", 1)); err != nil || m.User.Login != "" || m.User.ID != "20" {
		t.Errorf("CR in login: %+v, %v", m, err)
	}
}

// TestParse_SharedChat checks the copies of one message. Only the copy in the room where it was
// written isn't mirrored. Each copy has its own ID, for deleting it in its room, and the author's
// roles in that room.
func TestParse_SharedChat(t *testing.T) {
	copyIn := func(room, id, badges string) string {
		return "@badges=" + badges + ";id=" + id + ";room-id=" + room + ";source-badges=moderator/1;source-id=m1;source-room-id=10;user-id=20 " +
			":anna!anna@a PRIVMSG #room" + room + " :hello"
	}
	for name, c := range map[string]struct {
		line     string
		id, room string
		mirrored bool
		roles    chatguard.Roles
	}{
		"where it was written":       {copyIn("10", "m1", "moderator/1"), "m1", "10", false, chatguard.Roles{chatguard.RoleModerator}},
		"elsewhere":                  {copyIn("11", "m2", ""), "m2", "11", true, nil},
		"a VIP there":                {copyIn("12", "m3", "vip/1"), "m3", "12", true, chatguard.Roles{roles.VIP}},
		"lead moderator there":       {copyIn("13", "m4", "lead_moderator/1"), "m4", "13", true, chatguard.Roles{roles.LeadModerator}},
		"outside of a shared chat":   {privmsg(""), "m1", "10", false, nil},
		"source badges only, and no": {privmsg("source-badges=broadcaster/1"), "m1", "10", false, nil},
	} {
		m, ok, err := Parse(c.line)
		if !ok || err != nil || m.ID != c.id || m.ChannelID != c.room || m.Mirrored() != c.mirrored || !slices.Equal(m.User.Roles, c.roles) || m.User.ID != "20" {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestParse_Skips(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want error // nil for a valid line that isn't a message
	}{
		"empty":          {"", nil},
		"ping":           {"PING :tmi.twitch.tv", nil},
		"welcome":        {":tmi.twitch.tv 001 ann :Welcome, GLHF!", nil},
		"removal":        {"@room-id=1;target-user-id=2 :tmi.twitch.tv CLEARCHAT #room :ann", nil},
		"subscription":   {"@msg-id=resub;room-id=1;user-id=2;id=3 :tmi.twitch.tv USERNOTICE #room", nil},
		"notice, no ID":  {"@msg-id=resub;room-id=1;user-id=2 :tmi.twitch.tv USERNOTICE #room :hello", twitch.NoMessageID},
		"no line of IRC": {"once upon a time", twitch.Malformed},
		"tags alone":     {"@id=m1;room-id=10", twitch.Malformed},
		"prefix alone":   {":ann!ann@ann", twitch.Malformed},
		// go-twitch-irc panics on the next line
		"no parameters":           {"@id=m1;room-id=10;user-id=20 :a!a@a PRIVMSG", twitch.Malformed},
		"invalid altogether":      {"\xff\xfe\x00", twitch.InvalidUTF8},
		"no user-id":              {strings.Replace(privmsg(""), "user-id=20;", "", 1), twitch.NoUserID},
		"empty user-id":           {privmsg("user-id="), twitch.NoUserID},
		"no room-id":              {strings.Replace(privmsg(""), "room-id=10;", "", 1), twitch.NoRoomID},
		"no id":                   {strings.Replace(privmsg(""), "id=m1;", "", 1), twitch.NoMessageID},
		"no tags at all":          {":ann!ann@ann.tmi.twitch.tv PRIVMSG #room :hi", twitch.NoUserID},
		"control in an ID":        {privmsg("user-id=2\x000"), twitch.Malformed},
		"no IDs that can be read": {privmsg("user-id=2\xff0"), twitch.InvalidUTF8},
	} {
		m, ok, err := Parse(c.line)
		if ok || !errors.Is(err, c.want) || !reflect.DeepEqual(m, chat.Message{}) && err == nil {
			t.Errorf("%s: got %+v, %v, %v; want %v", name, m, ok, err, c.want)
		}
	}
}

// TestParse_RealLog parses a real log.
func TestParse_RealLog(t *testing.T) {
	users, messages, emotes, tagged, earlier, last := map[string]bool{}, 0, 0, 0, 0, time.Time{}
	for _, line := range realLog(t) {
		m, ok, err := Parse(line)
		if err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if !ok {
			continue
		}
		messages++
		users[m.User.ID] = true
		if slices.Contains(m.Kinds, roles.Emotes) {
			emotes++
		}
		// The tag emote-only and the positions agree, except about texts with an invisible
		// character.
		if raw, _ := split(line); raw.tag("emote-only") == "1" {
			tagged++
			if !emotesOnly(raw.tag("emotes"), m.Text) {
				t.Errorf("not emotes only by its positions: %s", line)
			}
		}
		if m.SentAt.Before(last) {
			earlier++
		}
		last = m.SentAt
	}
	if messages != 4938 || len(users) != 1211 || earlier != 682 {
		t.Errorf("%d messages of %d users, %d of them earlier than the one before; want 4938, 1211, 682", messages, len(users), earlier)
	}
	if emotes != 497 || tagged != 492 {
		t.Errorf("%d messages of emotes only, %d of them by their tag; want 497, 492", emotes, tagged)
	}
}

// realLog returns 5,000 lines that Twitch sent in 2019, from go-twitch-irc's own test data.
func realLog(t *testing.T) (lines []string) {
	t.Helper()
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gempir/go-twitch-irc/v4").Output()
	must(t, err)
	file, err := os.Open(filepath.Join(strings.TrimSpace(string(module)), "test_resources", "channel.txt.gz"))
	must(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	must(t, err)
	read := bufio.NewScanner(plain)
	for read.Scan() {
		lines = append(lines, read.Text())
	}
	must(t, read.Err())
	return lines
}

// FuzzParse checks that no line causes a panic and that every accepted message can be judged and
// acted on.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", privmsg("badges=vip/1"), privmsg(`display-name=\s\:\\\r\n\`), privmsg("emotes=25:0-4/1:9-3"), "PRIVMSG", "CLEARCHAT", "NOTICE",
		"USERNOTICE", "WHISPER", "@ :", ": :", "@a;b=;=c :x!y@z PRIVMSG # :", "PRIVMSG #a b c", "@badges=a PRIVMSG #a :b", "\xff", " ",
		"@emotes=1:0-0 PRIVMSG #a :\x01ACTION\x01", privmsg("emotes=25:0-1/1902:3-7"), privmsg("emote-only=1"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, ok, err := Parse(line)
		if ok != (err == nil) && err != nil {
			t.Fatalf("ok is %v with error %v", ok, err)
		}
		if !ok {
			return
		}
		for _, s := range []string{m.ID, m.ChannelID, m.User.ID, m.User.Login, m.User.DisplayName, m.SourceChannelID} {
			if hostile.HasControl(s) || !utf8.ValidString(s) {
				t.Errorf("let %q through", s)
			}
		}
		if m.ID == "" || m.ChannelID == "" || m.User.ID == "" {
			t.Errorf("let a message without IDs through: %+v", m)
		}
	})
}

// FuzzParse_OptionalTags checks that a line with message, room and author IDs, a nick and a text is
// a message, whatever its other tags hold. Its author gets no role from a tag that can't be read.
func FuzzParse_OptionalTags(f *testing.F) {
	for _, seed := range []string{
		"badges=vip", "badges=vip/1,moderator", "badges=,/,a/b/c", "emotes=25:4-0", "emotes=25:-1-3/1:a-b", "source-id=1;source-badges=moderator", "mod=1",
		"first-msg=1;mod=x", "reply-parent-msg-id", "=;;=", "badges=moder\xffator/1", `display-name=\r\n\`, "tmi-sent-ts=9999999999999999999", "@:!", "bits=x",
		"emotes=25:0-4", "emotes=25:0-1,1-4", "emotes=25:0-18446744073709551615", "emotes=:-,-/,/:", "emotes=25:0-1023", "emotes=25:0-4/25:5-9",
		"badges=moderator/1;badges=", "mod=\\1", `badges=moderator\s/1`, `mod=1\`,
	} {
		f.Add(seed, "hello", true)
		f.Add(seed, "\x01ACTION\x01", false)
		f.Add(seed, "\xff", false)
	}
	f.Fuzz(func(t *testing.T, tags, text string, before bool) {
		readable := map[string]bool{}
		for tag := range strings.SplitSeq(tags, ";") {
			key, value, _ := strings.Cut(tag, "=")
			value = strings.ReplaceAll(value, `\`, "") // which a tag loses at its end, or before a character without a meaning
			switch key {
			case "id", "room-id", "user-id":
				return // the tag would replace an ID
			case "badges":
				for badge := range strings.SplitSeq(value, ",") {
					name, version, _ := strings.Cut(badge, "/")
					readable[name] = readable[name] || version != ""
				}
			case "mod", "first-msg":
				readable[key] = readable[key] || value == "1"
			}
		}
		if strings.ContainsAny(tags, " \r\n") || strings.ContainsAny(text, "\r\n") {
			return // not a single line
		}
		all := "id=m1;room-id=10;user-id=20"
		if before {
			all = tags + ";" + all
		} else {
			all += ";" + tags
		}
		m, ok, err := Parse("@" + all + " :ann!ann@ann PRIVMSG #room :" + text)
		if !ok || err != nil || m.ID != "m1" || m.ChannelID != "10" || m.User.ID != "20" || m.User.Login != "ann" {
			t.Fatalf("%+v, %v", m, err)
		}
		if !strings.HasPrefix(text, "\x01ACTION") && m.Text != strings.ToValidUTF8(text, "\ufffd") {
			t.Errorf("text %q, want %q", m.Text, text)
		}
		for _, badge := range []string{"broadcaster", "lead_moderator", "moderator", "vip", "subscriber", "founder"} {
			role, _ := twitch.RoleOfBadge(badge)
			by := readable[badge] || role == chatguard.RoleModerator && readable["mod"] || role == roles.Subscriber && (readable["founder"] || readable["subscriber"])
			if m.User.Roles.Has(role) && !by {
				t.Errorf("%s for no reason", role)
			}
		}
		if m.User.Roles.Has(roles.FirstTimer) && !readable["first-msg"] {
			t.Error("first_timer for no reason")
		}
	})
}

func TestChannelOf(t *testing.T) {
	for line, want := range map[string]string{
		"@id=1;room-id=10 :anna!anna@a PRIVMSG #gardenhour :hello #teatime": "gardenhour",
		":anna!anna@a PRIVMSG #gardenhour":                                  "gardenhour",
		"@room-id=10 :tmi.twitch.tv ROOMSTATE #gardenhour":                  "",
		`{"channel": "1", "text": "PRIVMSG #gardenhour :hello"}`:            "",
		"": "",
	} {
		if got := ChannelOf(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestParse_Kind checks the kinds of messages, in the forms of Twitch's documentation.
func TestParse_Kind(t *testing.T) {
	for tags, want := range map[string]roles.Kinds{
		"":                                  nil,
		"bits=;custom-reward-id=;msg-id=":   nil,
		"bits=100":                          {roles.Bits},
		"bits=1;msg-id=highlighted-message": {roles.Bits, roles.Highlighted},
		"custom-reward-id=a-b":              {roles.Reward},
		"msg-id=gigantified-emote-message":  {roles.PowerUp},
		"pinned-chat-paid-amount=200":       {roles.HypeChat},
		"msg-id=user-intro":                 nil,
		"badges=vip;emotes=9-3;bits=5":      {roles.Bits}, // go-twitch-irc can't parse it
		"emote-only=1":                      {roles.Emotes},
		"emote-only=0":                      nil,
		"emotes=25:0-4":                     {roles.Emotes},
		"badges=vip;emotes=25:0-4":          {roles.Emotes}, // go-twitch-irc can't parse it
		"emotes=25:0-3":                     nil,
		"emote-only=1;msg-id=gigantified-emote-message": {roles.PowerUp, roles.Emotes},
		"msg-param-x=bits=5;x-custom-reward-id":         nil,
	} {
		m, ok, err := Parse("@id=1;room-id=2;user-id=3;" + tags + " :anna!anna@x PRIVMSG #room :hello")
		if !ok || err != nil || !slices.Equal(m.Kinds, want) {
			t.Errorf("%s: %s, %v, %v, want %s", tags, m.Kinds, ok, err, want)
		}
	}
	m, ok, err := Parse(`@badges=vip/1;display-name=Anna;id=1;login=anna;msg-id=resub;room-id=2;tmi-sent-ts=1000;user-id=3 :tmi.twitch.tv USERNOTICE #room :a year`)
	if want := (chatguard.Message{
		ID: "1", ChannelID: "2", Text: "a year", Kinds: []string{roles.Resub}, SentAt: time.UnixMilli(1000),
		User: chatguard.User{ID: "3", Login: "anna", DisplayName: "Anna", Roles: chatguard.Roles{roles.VIP}},
	}); !ok || err != nil || !reflect.DeepEqual(m, chat.Message{Message: want}) {
		t.Errorf("the notice is %+v, %v", m, err)
	}
}

// TestParse_Emotes checks which texts consist of emotes only, by the positions of their emotes.
func TestParse_Emotes(t *testing.T) {
	long := strings.Repeat("a", maxEmoteText)
	for _, c := range []struct {
		positions, text string
		want            bool
	}{
		{"25:0-4", "Kappa", true},
		{"25:0-4,12-16/1902:6-10", "Kappa Keepo Kappa", true},
		{"1902:6-10/25:0-4", "Kappa Keepo", true}, // in another order
		{"25:0-4/:6-7", "Kappa :)", true},
		{"25:1-5", " Kappa \t", true},
		{"25:0-4", "Kappa \U000E0000", true}, // as chat clients repeat a message
		{"25:0-4", "\x01ACTION Kappa\x01", true},
		{"emotesv2_1f:0-1,3-4", "ああ ああ", true},                                     // code points, not bytes
		{"emotesv2_1f:0-1,3-4", "\U0001F9C9\U0001F9C9 \U0001F9C9\U0001F9C9", true}, // and not UTF-16
		{"25:0-1023", long, true},

		{"", "", false},
		{"", "Kappa", false},
		{"", " ", false},
		{"25:0-4", "Kappa!", false},
		{"25:0-4", "Kappa Keepo", false},
		{"25:1-4", "Kappa", false},
		{"25:6-10", "look: Kappa", false},
		{"25:7-11", "@berta Kappa", false},
		{"25:0-4", "\U0001F9C9\U0001F9C9 \U0001F9C9\U0001F9C9\U0001F9C9", false},
		{"25:0-1023", long + "a", false},
		{"25:0-1023", long + " ", false},

		{"25:0-5", "Kappa", false}, // past the text
		{"25:0-0", "", false},
		{"25:0-4,0-4", "Kappa", false}, // twice
		{"25:0-3,3-4", "Kappa", false},
		{"25:4-0", "Kappa", false},
		{"25:0-4,3-1", "Kappa", false},
		{"25:-0-4", "Kappa", false},
		{"25:+0-4", "Kappa", false},
		{"25:0-4-", "Kappa", false},
		{"25:0-4,", "Kappa", false},
		{"25:0-4/", "Kappa", false},
		{"25:", "Kappa", false},
		{"25", "Kappa", false},
		{"0-4", "Kappa", false},
		{"25:0", "K", false},
		{"25:0-1024", long + "a", false},
		{"25:0-18446744073709551620", "Kappa", false},
		{"25:99999999999999999999-99999999999999999999", "Kappa", false},
	} {
		m, ok, err := Parse("@emotes=" + c.positions + ";id=1;room-id=2;user-id=3 :anna!anna@x PRIVMSG #room :" + c.text)
		if !ok || err != nil || slices.Contains(m.Kinds, roles.Emotes) != c.want {
			t.Errorf("%q of %.40q: %q, %v, want %v", c.positions, c.text, m.Kinds, err, c.want)
		}
	}
	const reply = "reply-parent-user-login=berta;reply-parent-display-name=ベルタ;"
	for _, c := range []struct {
		positions, tags, text string
		want                  bool
	}{
		{"25:7-11,13-17", reply, "@berta Kappa Kappa", true},
		{"25:7-11,13-17", reply, "@Berta Kappa Kappa", true},
		{"25:5-9", reply, "@ベルタ Kappa", true},
		{"25:0-4", reply, "Kappa", true},
		{"25:7-11", reply, "@berta Kappa!", false},
		{"25:0-4", reply, "@berta Kappa", false},
		{"25:6-10", reply, "@anna Kappa", false},
		{"25:14-18", reply, "@berta @berta Kappa", false},
		{"25:7-12", reply, "@berta Kappa", false}, // past the text
		{"", reply, "@berta ", false},
		{"25:1500-1501", reply, "@berta " + long, false},
		{"25:7-11", "reply-parent-user-login=;", "@ Kappa", false},
	} {
		m, ok, err := Parse("@emotes=" + c.positions + ";" + c.tags + "id=1;room-id=2;user-id=3 :anna!anna@x PRIVMSG #room :" + c.text)
		if !ok || err != nil || slices.Contains(m.Kinds, roles.Emotes) != c.want {
			t.Errorf("%q of the reply %.40q: %q, %v, want %v", c.positions, c.text, m.Kinds, err, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { emotesOnly("25:0-4,12-16/1902:6-10", "Kappa Keepo Kappa") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzEmotesOnly compares with the obvious way: it crosses out the emotes in a copy of the text.
func FuzzEmotesOnly(f *testing.F) {
	for _, seed := range [][2]string{
		{"25:0-4", "Kappa"}, {"25:0-4,12-16/1902:6-10", "Kappa Keepo Kappa"}, {"1:0-1,1-2", "abc"}, {"1:4-0", "abcde"}, {"1:0-0/2:2-2", "あ あ\xff"},
		{"1:0-18446744073709551615", "a"}, {":-,-/,/:", " "}, {"1:0-1023", "\u3000\U000E0000"}, {"1:-1-3", "abcd"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, tag, text string) {
		rest, ok := []rune(text), tag != "" && utf8.RuneCountInString(text) <= maxEmoteText
		for emote := range strings.SplitSeq(tag, "/") {
			_, ranges, _ := strings.Cut(emote, ":")
			for one := range strings.SplitSeq(ranges, ",") {
				first, last, _ := strings.Cut(one, "-")
				from, err := strconv.ParseUint(first, 10, 64)
				to, err2 := strconv.ParseUint(last, 10, 64)
				if err != nil || err2 != nil || from > to || to >= uint64(len(rest)) {
					ok = false
					continue
				}
				for at := from; at <= to; at++ {
					ok = ok && rest[at] != -1
					rest[at] = -1
				}
			}
		}
		for _, r := range rest {
			ok = ok && (r == -1 || hostile.IsUnseen(r))
		}
		if got := emotesOnly(tag, text); got != ok {
			t.Errorf("%q of %q: %v, want %v", tag, text, got, ok)
		}
	})
}
