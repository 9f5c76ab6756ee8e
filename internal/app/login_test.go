package app_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web"
	"github.com/chatguard/chatguard/internal/web/live"
)

// firstEvening runs a test with a bot that has no token yet, in simulated time.
func firstEvening(t *testing.T, test func(s *simulation), adjust ...func(*simulation)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.config.Twitch.Token, s.config.Twitch.RefreshToken = "", ""
		for _, f := range adjust {
			f(s)
		}
		s.start()
		test(s)
	})
}

// ask sends a request to the dashboard as the owner.
func (s *simulation) ask(method, path, body string) *httptest.ResponseRecorder {
	s.Helper()
	return s.askWith(method, path, body, nil)
}

// askWith is ask with more headers.
func (s *simulation) askWith(method, path, body string, more http.Header) *httptest.ResponseRecorder {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), method, "http://127.0.0.1:8080/api/v1"+path, strings.NewReader(body))
	maps.Copy(r.Header, more)
	r.Header.Set("Authorization", "Bearer "+string(s.config.Web.Token))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.bot.Web.Handler().ServeHTTP(w, r)
	for _, secret := range []string{s.server.Token(), s.server.RefreshToken(), "fake0device0code"} {
		if strings.Contains(w.Body.String(), secret) || strings.Contains(s.log.String(), secret) {
			s.Errorf("%s %s: the answer or the log contains the secret %s", method, path, secret)
		}
	}
	return w
}

// beginLogin starts a login from the dashboard.
func (s *simulation) beginLogin(body string) web.Login {
	s.Helper()
	w := s.ask("POST", "/login", body)
	if w.Code != http.StatusOK {
		s.Fatalf("%d: %s", w.Code, w.Body)
	}
	return s.readLogin(w)
}

// login returns the state of the login from the dashboard.
func (s *simulation) login() web.Login { s.Helper(); return s.readLogin(s.ask("GET", "/login", "")) }

func (s *simulation) readLogin(w *httptest.ResponseRecorder) (login web.Login) {
	s.Helper()
	must(s, json.Unmarshal(w.Body.Bytes(), &login))
	return login
}

// setup returns what is left to do, as the dashboard shows it.
func (s *simulation) setup() (setup struct {
	web.BotSetup
	Done bool
}) {
	s.Helper()
	must(s, json.Unmarshal(s.ask("GET", "/setup", "").Body.Bytes(), &setup))
	return setup
}

// TestLogin_FromTheDashboard checks the whole way from a start without a token to a deleted
// message.
func TestLogin_FromTheDashboard(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		s.server.SetBotModerator("gardenhour", false)
		if s.provokeDelete() || s.bot.Bot.Counts().Observed == 0 {
			s.Errorf("without a token: %+v", s.bot.Bot.Counts())
		}
		if got := s.setup(); got.Token != live.Missing || got.Moderator != web.ModeratorUnknown || got.Command != "" ||
			got.ChatPage != "https://www.twitch.tv/popout/gardenhour/chat" || got.Done {
			s.Errorf("without a token: %+v", got)
		}
		begun := s.beginLogin("")
		if begun.State != web.LoginWaiting || begun.UserCode == "" || !strings.HasPrefix(begun.Address, "http") || begun.QR.Size < 29 || begun.QR.Path == "" {
			s.Errorf("begun: %+v", begun)
		}
		s.server.Approve(begun.UserCode)
		s.advance(10 * time.Second)
		if got := s.login(); got.State != web.LoginDone || got.Account != "chatguard_bot" || got.Problem != "" || got.Replaced != "" {
			s.Errorf("approved: %+v", got)
		}
		if got := s.setup(); got.Token != live.Valid || got.Account != "chatguard_bot" || got.Moderator != web.ModeratorNo || got.Command != "/mod chatguard_bot" {
			s.Errorf("logged in: %+v", got)
		}
		s.server.SetBotModerator("gardenhour", true)
		s.advance(5 * time.Second)
		s.setup() // asks Twitch again
		s.advance(time.Second)
		if got := s.setup(); got.Moderator != web.ModeratorYes {
			s.Errorf("made a moderator: %+v", got)
		}
		if !s.provokeDelete() {
			s.Error("it doesn't act")
		}
		s.checkLoginRecorded("chatguard_bot")
	})
}

// checkLoginRecorded checks that the audit names the account of the login and who started it.
func (s *simulation) checkLoginRecorded(account string) {
	s.Helper()
	list, err := s.bot.Host.Store.Audits(s.Context(), journal.AuditFilter{N: 10})
	must(s, err)
	i := slices.IndexFunc(list, func(a journal.Audit) bool { return a.Action == journal.BotConnected })
	if i < 0 {
		s.Fatalf("the audit is %+v", list)
	}
	detail, err := json.Marshal(list[i].Detail)
	if err != nil || list[i].Author != "owner" || !strings.Contains(string(detail), account) {
		s.Errorf("the audit is %+v, %s, %v", list[i], detail, err)
	}
}

// TestLogin_Ends checks how a login can end without a new account, and what the dashboard says.
func TestLogin_Ends(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(s *simulation, code string)
		says string
	}{
		"denied":  {func(s *simulation, code string) { s.server.Deny(code) }, "The login was denied on Twitch. Try again, signed in there as the bot's account."},
		"expired": {func(s *simulation, _ string) { s.advance(31 * time.Minute) }, "Nobody entered the code in time. Get a new code."},
	} {
		t.Run(name, func(t *testing.T) {
			firstEvening(t, func(s *simulation) {
				begun := s.beginLogin("")
				test.end(s, begun.UserCode)
				s.advance(10 * time.Second)
				if got := s.login(); got.State != web.LoginFailed || got.Problem != test.says || got.UserCode != "" {
					s.Errorf("%+v", got)
				}
				if again := s.beginLogin(""); again.UserCode == begun.UserCode {
					s.Errorf("the next login has the same code %s", again.UserCode)
				}
			})
		})
	}
}

func TestLogin_OneAtATime(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		begun := s.beginLogin("")
		if w := s.ask("POST", "/login", ""); w.Code != http.StatusConflict {
			s.Errorf("a second login: %d %s", w.Code, w.Body)
		}
		if w := s.ask("DELETE", "/login", ""); w.Code != http.StatusNoContent {
			s.Errorf("cancel: %d %s", w.Code, w.Body)
		}
		s.server.Approve(begun.UserCode)
		s.advance(10 * time.Second)
		if got := s.setup(); got.Token != live.Missing || s.login().State != web.LoginNone {
			s.Errorf("a canceled login was used: %+v", got)
		}
		s.beginLogin("")
	})
}

// TestLogin_OtherAccount checks that the dashboard says which account a login has replaced.
func TestLogin_OtherAccount(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		for _, account := range []string{"my_own_account", "chatguard_bot"} {
			s.server.ApproveAs(s.beginLogin("").UserCode, account)
			s.advance(10 * time.Second)
		}
		if got := s.login(); got.Account != "chatguard_bot" || got.Replaced != "my_own_account" {
			s.Errorf("%+v", got)
		}
		s.advance(5 * time.Second)
		if got := s.setup(); got.Account != "chatguard_bot" || got.Moderator != web.ModeratorYes {
			s.Errorf("%+v", got)
		}
	})
}

// TestLogin_ClientID checks that a client ID can be entered in the dashboard, and is kept in the
// configuration once Twitch has accepted it.
func TestLogin_ClientID(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		if got := s.login(); !got.NeedsClientID || got.Console != "https://dev.twitch.tv/console/apps/create" {
			s.Errorf("%+v", got)
		}
		for body, says := range map[string]string{
			"":                            "Enter the client ID of your Twitch application.",
			`{"client_id":"a b"}`:         "letters and digits only",
			`{"client_id":"nobodysapp1"}`: "Twitch knows no application with this client ID.",
		} {
			if w := s.ask("POST", "/login", body); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), says) {
				s.Errorf("%s: %d %s", body, w.Code, w.Body)
			}
		}
		if file, err := os.ReadFile(s.config.Path); err != nil || strings.Contains(string(file), "nobodysapp1") {
			s.Errorf("a refused ID was kept: %s, %v", file, err)
		}
		begun := s.beginLogin(`{"client_id":"` + s.server.ClientID() + `"}`)
		if file, err := os.ReadFile(s.config.Path); err != nil || !strings.Contains(string(file), s.server.ClientID()) || s.login().NeedsClientID {
			s.Errorf("the file is %s, %v; %+v", file, err, s.login())
		}
		s.server.Approve(begun.UserCode)
		s.advance(10 * time.Second)
		if got := s.login(); got.State != web.LoginDone {
			s.Errorf("%+v", got)
		}
	}, func(s *simulation) {
		s.config.Twitch.ClientID = ""
		s.config.Path = filepath.Join(s.TempDir(), "chatguard.toml")
		must(s, os.WriteFile(s.config.Path, []byte("[twitch]\nchannels = [\"gardenhour\"]\n"), 0o600))
	})
}

// TestLogin_OtherClientID checks that a client ID entered in the dashboard replaces a wrong one of
// the configuration, without a restart.
func TestLogin_OtherClientID(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		if w := s.ask("POST", "/login", ""); w.Code != http.StatusUnprocessableEntity {
			s.Errorf("with the wrong ID: %d %s", w.Code, w.Body)
		}
		s.server.Approve(s.beginLogin(`{"client_id":"` + s.server.ClientID() + `"}`).UserCode)
		s.advance(10 * time.Second)
		if got := s.setup(); got.Token != live.Valid || got.Problem != "" {
			s.Errorf("%+v", got)
		}
	}, func(s *simulation) {
		s.config.Twitch.ClientID = "nobodysapp1"
		s.config.Path = filepath.Join(s.TempDir(), "chatguard.toml")
		must(s, os.WriteFile(s.config.Path, []byte("[twitch]\nchannels = [\"gardenhour\"]\nclient_id = \"nobodysapp1\"\n"), 0o600))
	})
}

// TestLogin_TwitchAway checks the answer while Twitch can't be reached.
func TestLogin_TwitchAway(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		s.server.FailAuth(&faketwitch.Fault{Status: http.StatusServiceUnavailable})
		w := s.ask("POST", "/login", "")
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "Twitch does not answer. Try again in a minute.") {
			s.Errorf("%d %s", w.Code, w.Body)
		}
		s.server.FailAuth(nil)
		s.beginLogin("")
	})
}

// TestLogin_EndsWithTheProcess checks that a login in progress doesn't keep the process alive.
func TestLogin_EndsWithTheProcess(t *testing.T) {
	firstEvening(t, func(s *simulation) {
		s.beginLogin("")
		s.stop()
	})
}
