package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/roles"
)

func mustParse(t *testing.T, name, text string, env variables) Config {
	t.Helper()
	c, err := Parse(name, []byte(text), env.lookup)
	must(t, err)
	return c
}

func assertEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if c, ok := got.(Config); ok {
		c.source = nil
		got = c
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

func TestParse_EmptyFileIsDefault(t *testing.T) {
	want := Default()
	want.Path = "chatguard.toml"
	assertEqual(t, "empty file", mustParse(t, "chatguard.toml", "", nil), want)
	if err := want.Policy.Validate(); err != nil {
		t.Error(err)
	}
}

// testdata/sample.toml is the file of DESIGN.md, section 7, verbatim.
func TestParse_DesignSample(t *testing.T) {
	got, err := Load("testdata/sample.toml", nil)
	must(t, err)
	want := Default()
	want.Path = "testdata/sample.toml"
	want.Database = filepath.Join("testdata", "chatguard.db")
	want.Timezone, want.Policy.Timezone = "Europe/Berlin", "Europe/Berlin"
	want.Twitch.Channels = []string{"yourchannel"}
	want.Policy.Limits[0].Roles = map[chatguard.Role]chatguard.Override{roles.Subscriber: {Burst: 5}}
	assertEqual(t, "sample", got, want)
}

func TestParse_EveryValue(t *testing.T) {
	secret := filepath.VolumeName(t.TempDir()) + "/secret" // absolute on Windows, too
	got := mustParse(t, "/etc/chatguard/chatguard.toml", strings.ReplaceAll(`
		database = "data/chat.db"
		timezone = "Asia/Kolkata"
		flush_interval = "250ms"
		retention = "36h"
		text_retention = "90m"
		memory = "3GiB"
		memory_per_table = "2GiB"
		[twitch]
		channels = [" #Gardenhour ", "TeaTime"]
		client_id = "abc"
		irc_address = "127.0.0.1:6667"
		irc_tls = false
		irc_websocket_url = "ws://127.0.0.1:1/irc/"
		eventsub_url = "ws://127.0.0.1:2/ws"
		helix_url = "http://127.0.0.1:3/helix/"
		auth_url = "http://127.0.0.1:4"
		transport = "eventsub"
		commands = false
		slow_mode = "0s"
		[check]
		channels = ["Lobby", "room 7"]
		[shared]
		mode = "exact"
		url = "rediss://chat@cache.internal:6380/1"
		namespace = "chat-2"
		node = "a.example"
		timeout = "50ms"
		interval = "1s"
		replicas = 1
		placement = "together"
		tls_ca = "ca.pem"
		tls_cert = "client.pem"
		tls_key = "/secret/client.pem"
		insecure = true
		[notices]
		text = "@{name}, wait {wait} ({limit})"
		cooldown = "90s"
		language = "en"
		[raid]
		lasts = "1h"
		channel_burst = 7
		channel_refill = "1s"
		first_timer_burst = 2
		first_timer_refill = "5s"
		[web]
		listen = "localhost:0"
		tls_cert = "cert.pem"
		tls_key = "/secret/key.pem"
		public_url = "https://example.com/chat/"
		trusted_proxies = ["10.0.0.7", "192.168.7.1/16"]
		insecure = true
		owners = ["#Gardenhour", "anna"]
		moderator_role = "help"
		[log]
		format = "json"
		level = "debug"
		[policy]
		mode = "enforce"
		roles = ["vip", "everyone"]
		exempt = []
		exempt_messages = ["bits"]
		[[limit]]
		name = "day"
		algorithm = "daily-window"
		messages = 10
		timezone = "America/Lima"
		reset_at = "04:30"
		period = "week"
		first_day = "sunday"
		roles.vip.messages = 20
		roles.everyone = { messages = 11 }
		[penalties]
		ladder = ["timeout refill", "ban"]
		strike_every = "0s"
		forget_after = "0s"
	`, "/secret", secret), nil)
	want := Config{
		Path:          "/etc/chatguard/chatguard.toml",
		Database:      filepath.FromSlash("/etc/chatguard/data/chat.db"),
		Timezone:      "Asia/Kolkata",
		FlushInterval: 250 * time.Millisecond,
		Retention:     Retention(36 * time.Hour),
		TextRetention: 90 * time.Minute,

		Memory:         3 << 30,
		MemoryPerTable: 2 * gibibyte,

		Twitch: Twitch{
			Channels:        []string{"gardenhour", "teatime"},
			ClientID:        "abc",
			Transport:       "eventsub",
			IRCAddress:      "127.0.0.1:6667",
			IRCWebSocketURL: "ws://127.0.0.1:1/irc",
			EventSubURL:     "ws://127.0.0.1:2/ws",
			HelixURL:        "http://127.0.0.1:3/helix",
			AuthURL:         "http://127.0.0.1:4",
		},
		Check: Check{Channels: []string{"Lobby", "room 7"}},
		Shared: Shared{
			Mode: ShareExact, URL: "rediss://chat@cache.internal:6380/1", Namespace: "chat-2", Node: "a.example", Timeout: 50 * time.Millisecond,
			Interval: time.Second, Replicas: 1, Placement: PlaceTogether, Insecure: true,
			TLSCA: filepath.FromSlash("/etc/chatguard/ca.pem"), TLSCert: filepath.FromSlash("/etc/chatguard/client.pem"), TLSKey: secret + "/client.pem",
		},
		Notices: Notices{Text: "@{name}, wait {wait} ({limit})", Cooldown: 90 * time.Second, Language: "en"},
		Raid:    Raid{Lasts: time.Hour, Burst: 7, Refill: time.Second, FirstTimerBurst: 2, FirstTimerRefill: 5 * time.Second},
		Web: Web{
			Listen:         "localhost:0",
			TLSCert:        filepath.FromSlash("/etc/chatguard/cert.pem"),
			TLSKey:         secret + "/key.pem",
			PublicURL:      "https://example.com/chat",
			TrustedProxies: []Proxy{{netip.MustParsePrefix("10.0.0.7/32")}, {netip.MustParsePrefix("192.168.0.0/16")}},
			Insecure:       true,
			Owners:         []string{"gardenhour", "anna"},
			ModeratorRole:  auth.Help,
		},
		Log: Log{Format: LogJSON, Level: "debug"},
		Policy: chatguard.Policy{
			Mode:        chatguard.ModeEnforce,
			Roles:       []chatguard.Role{roles.VIP, roles.Everyone},
			Exempt:      []chatguard.Role{},
			ExemptKinds: []string{roles.Bits},
			Timezone:    "Asia/Kolkata",
			Limits: []chatguard.Limit{{
				Name: "day", Algorithm: chatguard.DailyWindow, Messages: 10, Timezone: "America/Lima", ResetAt: "04:30", Period: chatguard.PeriodWeek, FirstDay: "sunday",
				Roles: map[chatguard.Role]chatguard.Override{roles.VIP: {Messages: 20}, chatguard.RoleEveryone: {Messages: 11}},
			}},
			Penalties: chatguard.Penalties{
				Ladder: []chatguard.Penalty{{Action: chatguard.ActionTimeout, UntilRefill: true}, {Action: chatguard.ActionBan}},
			},
		},
	}
	assertEqual(t, "config", got, want)
}

func TestParse_MissingKeysHaveDefaults(t *testing.T) {
	got := mustParse(t, "c.toml", "[penalties]\nladder = [\"delete\"]\n[web]\nlisten = \"[::1]:9\"\n", nil)
	want := Default()
	want.Path = "c.toml"
	want.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDelete}}
	want.Web.Listen = "[::1]:9"
	assertEqual(t, "config", got, want)
}

// TestPublicURL_Loopback checks that people may open an unencrypted address that never leaves this
// machine.
func TestPublicURL_Loopback(t *testing.T) {
	for _, address := range []string{"http://localhost:8080", "http://localhost", "http://127.0.0.1:8080/chat", "http://[::1]"} {
		if err := (Web{PublicURL: address}).CheckPublicURL(); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"http://localhost.example.org", "http://192.168.0.2", "http://127.0.0.1.example.org:80"} {
		if err := (Web{PublicURL: address}).CheckPublicURL(); err == nil {
			t.Errorf("%s is accepted", address)
		}
	}
}

func TestWeb_OpenToOtherMachines(t *testing.T) {
	const open = "[web]\nlisten = \"192.168.0.2:80\"\n"
	const proxy = open + "public_url = \"https://example.com\"\n"
	const tls = open + "tls_cert = \"c\"\ntls_key = \"k\"\n"
	for _, c := range []struct{ name, text, token, want string }{
		{"nothing", open, "", "c.toml:2: web.listen: 192.168.0.2:80 is open to other machines: set tls_cert and tls_key, or public_url " +
			"to a proxy's https address, or listen on 127.0.0.1, or set insecure = true in [web]"},
		{"tls alone", tls, "", "c.toml: web.listen: 192.168.0.2:80 is open to other machines: set CHATGUARD_WEB_TOKEN to a long random text, " +
			"or listen on 127.0.0.1"},
		{"token and tls", tls, "0123456789abcdef", ""},
		{"token and https proxy", proxy, "0123456789abcdef", ""},
		{"insecure", open + "insecure = true\n", "0123456789abcdef", ""},
		{"loopback", "[web]\nlisten = \"localhost:80\"\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse("c.toml", []byte(c.text), variables{"CHATGUARD_WEB_TOKEN": c.token}.lookup)
			if err == nil {
				err = got.CheckServed() // without serving no token is needed
			}
			if c.want != "" {
				assertEqual(t, "error", problem(t, err), c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLoad_Unreadable(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "chatguard.toml")
	_, err := Load(missing, os.LookupEnv)
	assertEqual(t, "missing", problem(t, err), missing+": there is no such file: name another with --config, or write one with `chatguard init`")
	_, err = Load(dir, os.LookupEnv)
	assertEqual(t, "folder", problem(t, err), dir+": is a folder: name the file in it")
}

// Editors of Windows write byte order marks, and its shell UTF-16.
func TestParse_Beginning(t *testing.T) {
	c, err := Parse("x", []byte("\uFEFFtimezone = \"Mars\""), nil)
	if got := problem(t, err); !strings.HasPrefix(got, "x:1: timezone: ") {
		t.Errorf("after a byte order mark: %q, %v", got, c.Timezone)
	}
	if _, err = Parse("x", []byte("\xff\xfet\x00"), nil); problem(t, err) != "x: it is UTF-16 text: save it as UTF-8" {
		t.Error(err)
	}
}

// TestConfig_Fail checks that an error that only the use of a value shows names its line, or the
// variable that set it.
func TestConfig_Fail(t *testing.T) {
	const text = "[shared]\nmode = \"exact\"\nurl = \"redis://127.0.0.1:port\"\n"
	for _, c := range []struct {
		config Config
		want   string
	}{
		{mustParse(t, "a.toml", text, nil), "a.toml:3: shared.url: wrong"},
		{mustParse(t, "a.toml", "", nil), "a.toml: shared.url: wrong"},
		{mustParse(t, "a.toml", text, variables{"CHATGUARD_SHARED_URL": "redis://127.0.0.1:x"}), "CHATGUARD_SHARED_URL: wrong"},
		{Default(), "shared.url: wrong"},
	} {
		if got := c.config.Fail("shared.url", "wrong").Error(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestDatabaseOf checks that the path of the database is known whatever else is wrong.
func TestDatabaseOf(t *testing.T) {
	folder := t.TempDir()
	for contents, want := range map[string]string{
		"":                                  "chatguard.db",
		"database = \"a.db\"\ntimezoen = 1": "a.db",
		"database = \"a.db\"\n[twitch":      "chatguard.db", // nothing can be read
		"database = 7":                      "chatguard.db",
	} {
		path := filepath.Join(folder, "chatguard.toml")
		must(t, os.WriteFile(path, []byte(contents), 0o600))
		assertEqual(t, contents, DatabaseOf(path, variables{}.lookup), filepath.Join(folder, want))
		assertEqual(t, contents, DatabaseOf(path, variables{"CHATGUARD_DATABASE": "b.db"}.lookup), filepath.Join(folder, "b.db"))
	}
	assertEqual(t, "without a file", DatabaseOf(filepath.Join(folder, "no.toml"), variables{}.lookup), filepath.Join(folder, "chatguard.db"))
}
