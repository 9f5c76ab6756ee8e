//go:build unix && !race

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/waittest"
)

// startPiped runs chatguard with a pipe for all of its output, and waits until it reads the chat.
func (s *scene) startPiped() *waittest.Output {
	s.Helper()
	out := new(waittest.Output)
	s.bot = &process{Cmd: s.runCommand(), logs: os.DevNull}
	s.bot.Stdout, s.bot.Stderr = out, out
	must(s, s.bot.Start())
	s.Cleanup(func() { s.bot.Process.Kill() })
	waittest.Until(s.T, func() bool {
		_, after, ok := strings.Cut(out.String(), "Dashboard: ")
		address, _, whole := strings.Cut(after, "\n")
		s.bot.address = address
		return ok && whole
	})
	awaitJoined(s, s.twitch, 1)
	return out
}

// startEcho runs a server that refuses each command of a Redis client and repeats it in the error,
// as old servers do with commands that they don't know.
func startEcho(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				command := make([]byte, 4096)
				for {
					n, err := conn.Read(command)
					if err != nil {
						return
					}
					fmt.Fprintf(conn, "-ERR %s: unknown\r\n", strings.Join(wordsOf(command[:n]), " "))
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// wordsOf returns the words of a command, the last one first.
func wordsOf(command []byte) (words []string) {
	for field := range strings.FieldsSeq(string(command)) {
		if !strings.ContainsAny(field[:1], "*$") {
			words = append([]string{field}, words...)
		}
	}
	return words
}

// startNoisy runs chatguard so that it logs everything to a pipe, with a webhook that fails and
// repeats in its answer what it has got.
func startNoisy(t *testing.T, more string, env ...string) (s *scene, out *waittest.Output, secrets map[string]string) {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.URL.String()+r.Header.Get("Webhook-Signature"), http.StatusInternalServerError)
	}))
	t.Cleanup(hook.Close)
	s = newScene(t, threeMessages+more+`
[log]
level = "debug"
[[webhook]]
name = "team"
format = "signed"
allow_private = true
`)
	secrets = map[string]string{
		"the bot's token": s.twitch.Token(), "the refresh token": s.twitch.RefreshToken(), "the client secret": "clientsecret0123456789",
		"the owner's token": webToken, "the webhook's path": "hookpath012345678", "the webhook's secret": "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	}
	s.env = slices.Concat(s.env, env, []string{"CHATGUARD_TWITCH_CLIENT_ID=" + s.twitch.ClientID(),
		"CHATGUARD_TWITCH_REFRESH_TOKEN=" + secrets["the refresh token"], "CHATGUARD_TWITCH_CLIENT_SECRET=" + secrets["the client secret"],
		"CHATGUARD_WEBHOOK_TEAM_URL=" + hook.URL + "/" + secrets["the webhook's path"], "CHATGUARD_WEBHOOK_TEAM_SECRET=whsec_" + secrets["the webhook's secret"]})
	out = s.startPiped()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the output is\n%s", out)
		}
	})
	waittest.Until(t, func() bool {
		_, text := s.ask("GET", "api/v1/channels", "")
		return strings.Contains(text, "gardenhour")
	})
	return s, out, secrets
}

// awaitOutput waits until the output has each of the texts.
func awaitOutput(t *testing.T, out *waittest.Output, texts ...string) {
	t.Helper()
	for _, text := range texts {
		waittest.Until(t, func() bool { return strings.Contains(out.String(), text) })
	}
}

// checkNoSecrets checks that an output has none of the secrets, no token of a person at the fake
// Twitch, and no sign-in link.
func checkNoSecrets(t *testing.T, out *waittest.Output, secrets map[string]string) {
	t.Helper()
	secrets["a person's token"], secrets["a sign-in link"] = "fake0access", "#signin="
	for what, secret := range secrets {
		if len(secret) < len("#signin=") {
			t.Errorf("%s is %q", what, secret)
		}
		if strings.Contains(out.String(), secret) {
			t.Errorf("the output has %s", what)
		}
	}
}

// beginSignIn begins a sign-in with Twitch, and returns its state.
func (b browser) beginSignIn() (state string) {
	b.Helper()
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, text := send(b, b.client, b.request("GET", "signin/twitch"))
	to, err := answer.Location()
	if err != nil {
		b.Fatalf("%v: %s %s", err, answer.Status, text)
	}
	return to.Query().Get("state")
}

// TestRun_LogsNoSecrets checks that no secret is in the log, whatever people send and whatever
// fails.
func TestRun_LogsNoSecrets(t *testing.T) {
	t.Parallel()
	s, out, secrets := startNoisy(t, "", "CHATGUARD_WEB_TWITCH_SIGN_IN=true")
	_, code, _ := strings.Cut(strings.TrimSpace(s.run("signin")), "#signin=")
	secrets["a sign-in code"], secrets["a session"] = code, s.signIn(fmt.Sprintf(`{"code":%q}`, code))
	b := newBrowser(s)
	b.host = "localhost" // Twitch sends people back there
	state := b.beginSignIn()
	secrets["a sign-in's state"] = state
	named := strings.Fields(s.run("token", "make", "game", "--role", "check"))[0]
	secrets["a token for servers"] = named

	for _, body := range []string{`{"code":"` + code + `"}`, `{"token":"` + named + `x"}`, `{"token":7,"code":"` + code + `"}`, code} {
		s.ask("POST", "api/v1/session", body, "Content-Type: application/json", "Authorization: ")
	}
	for _, authorization := range []string{"Bearer " + named + "x", "Basic " + webToken, "Bearer " + named} {
		s.ask("GET", "api/v1/status?token="+webToken, "", "Authorization: "+authorization)
		s.ask("GET", "api/v1/live?token="+webToken, "", "Authorization: "+authorization)
	}
	s.ask("GET", "api/v1/live?channel="+s.twitch.UserID("gardenhour"), "", "Connection: Upgrade", "Upgrade: websocket", "Origin: https://example.com",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
	b.ask("GET", "signin/twitch/callback?code="+code+"&state="+webToken)
	b.ask("GET", "signin/twitch/callback?code="+code+"&state="+state)
	s.ask("POST", s.channel()+"/pause", "")
	s.twitch.FailAuth(&faketwitch.Fault{Status: http.StatusBadRequest, Message: "no"})
	s.runWithInput("", "status")
	awaitOutput(t, out, "a webhook fails", "request refused", "a sign-in with Twitch has failed")
	s.stop()
	checkNoSecrets(t, out, secrets)
}

// TestRun_LogsNoStorePassword checks that the password of the shared store isn't in the log, even
// if the store repeats it in its errors.
func TestRun_LogsNoStorePassword(t *testing.T) {
	t.Parallel()
	s, out, secrets := startNoisy(t, fmt.Sprintf("[shared]\nmode = \"synchronised\"\nurl = \"redis://%s\"\n", startEcho(t)),
		"CHATGUARD_SHARED_PASSWORD=storepassword0123")
	secrets["the store's password"] = "storepassword0123"
	awaitOutput(t, out, "redisstore: ", "the server refuses")
	s.stop()
	checkNoSecrets(t, out, secrets)
}
