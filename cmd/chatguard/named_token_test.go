package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/internal/waittest"
)

// runBeside runs a chatguard command while another chatguard runs with that configuration. It
// returns the command's output.
func runBeside(t *testing.T, configuration string, args ...string) string {
	t.Helper()
	out, err := commandLine(t, append(args, "--config", configuration)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// sendRequest sends a request with header fields, given as names and values in turn. It returns the
// response and its body.
func sendRequest(t testing.TB, method, address, body string, fields ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	return send(t, http.DefaultClient, r)
}

// send sends a request, and returns the response and its body.
func send(t testing.TB, client *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer, string(text)
}

// TestTokenRevoke_EndsSessions checks that revoking a token ends the token, its
// sessions and the open dashboard.
func TestTokenRevoke_EndsSessions(t *testing.T) {
	_, configuration := startTwitch(t, "")
	p := start(t, configuration)
	defer p.stop(t)
	token := runBeside(t, configuration, "token", "make", "anna", "--role", "view")
	bearer := "Bearer " + token

	api := p.address + "api/v1/"
	answer, text := sendRequest(t, "POST", api+"session", fmt.Sprintf(`{"token":%q}`, token))
	if answer.StatusCode != http.StatusOK || len(answer.Cookies()) != 1 {
		t.Fatalf("signing in: %s %s", answer.Status, text)
	}
	cookie := answer.Cookies()[0].String()
	var me struct{ Name, Access string }
	if _, text := sendRequest(t, "GET", api+"session", "", "Cookie", cookie); json.Unmarshal([]byte(text), &me) != nil || me.Name != "anna" || me.Access != "view" {
		t.Errorf("signed in as %s", text)
	}
	if answer, text := sendRequest(t, "GET", api+"status", "", "Authorization", bearer); answer.StatusCode != http.StatusOK {
		t.Errorf("the token: %s %s", answer.Status, text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	feed, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(api, "http")+"live", &websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {cookie}}})
	must(t, err)
	defer feed.CloseNow()
	feed.SetReadLimit(-1)

	if said := runBeside(t, configuration, "token", "revoke", "anna"); said != "Revoked: 1 token, 1 session and 0 sign-in links of anna." {
		t.Errorf("revoking says %q", said)
	}
	for err == nil {
		_, _, err = feed.Read(ctx)
	}
	if code := websocket.CloseStatus(err); code != 4401 {
		t.Errorf("the live feed ends with %d, %v", code, err)
	}
	for header, value := range map[string]string{"Cookie": cookie, "Authorization": bearer} {
		waittest.Until(t, func() bool {
			answer, _ := sendRequest(t, "GET", api+"status", "", header, value)
			return answer.StatusCode == http.StatusUnauthorized
		})
	}
}
