//go:build !race

package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/internal/webhook"
)

// openAPIPath is where the description of the API is in the repository.
const openAPIPath = "../../web/static/" + openAPIFile

var updateOpenAPI = flag.Bool("update-openapi", false, "write openapi.json again")

// TestOpenAPI_IsUpToDate compares the served file with the current routes and types.
func TestOpenAPI_IsUpToDate(t *testing.T) {
	doc, err := (&Server{}).describe()
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.MarshalIndent(doc, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *updateOpenAPI {
		if err := os.WriteFile(openAPIPath, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(openAPIPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("openapi.json is out of date: go test ./internal/web -run TestOpenAPI -update-openapi")
	}
}

// Every route is in the document, and everything in the document is a route whose parameters exist.
func TestOpenAPI_MatchesRoutes(t *testing.T) {
	d := dash(t)
	got := decode[document](t, d.do("GET", "/api/v1/openapi.json", nil))
	var served, documented []string
	for _, r := range d.server.openRoutes() {
		served = append(served, r.pattern)
	}
	for _, r := range d.server.api() {
		served = append(served, r.pattern)
	}
	ids := map[string]bool{}
	for path, methods := range got.Paths {
		for method, op := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
			if ids[op.OperationID] || op.Summary == "" {
				t.Errorf("%s %s: %q is another's name, or it has no summary", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
			for _, p := range op.Parameters {
				if p.In == "path" != strings.Contains(path, "{"+p.Name+"}") || p.Description == "" || p.Schema == nil {
					t.Errorf("%s %s: parameter %+v", method, path, p)
				}
			}
		}
	}
	slices.Sort(served)
	slices.Sort(documented)
	if !slices.Equal(served, documented) {
		t.Errorf("served\n%q\ndocumented\n%q", served, documented)
	}
}

// Invalid parameters are refused, which shows that every documented parameter is read.
func TestOpenAPI_ParametersAreRead(t *testing.T) {
	d := dash(t)
	got := decode[document](t, d.do("GET", "/api/v1/openapi.json", nil))
	read := 0
	for path, methods := range got.Paths {
		op := methods["get"]
		if op == nil || path == "/live" {
			continue
		}
		path = strings.NewReplacer("{channel}", channelID, "{id}", "42").Replace("/api/v1" + path)
		for _, p := range op.Parameters {
			isText := p.Schema.Type == "string" && p.Schema.Enum == nil && p.Schema.Format == ""
			if p.In != "query" || isText && p.Name != "limit" {
				continue
			}
			nonsense := url.Values{p.Name: {strings.Repeat("nonsense", 100)}}
			if a := d.do("GET", path+"?"+nonsense.Encode(), nil, asOwner); a.StatusCode != 422 && a.StatusCode != 400 {
				t.Errorf("%s with nonsense for %s: %s", path, p.Name, a.Status)
			}
			read++
		}
	}
	if read < 10 {
		t.Errorf("only %d parameters", read)
	}
}

// Each route accepts the documented request and returns the documented success.
func TestOpenAPI_EveryRouteAnswers(t *testing.T) {
	turntest.Expensive(t)
	receiver := newReceiver(t)
	hook := receiver.hook("file")
	d := dashWithTwitchAt(t, "", withWebhooks(t, hook), func(o *Options) {
		o.ExportPolicy = func(chatguard.Policy) ([]byte, error) { return []byte("mode = \"observe\"\n"), nil }
		o.Login = &fakeLogin{}
		o.Setup = func(string) (BotSetup, bool) { return BotSetup{}, true }
		o.ViewerPage = true
	})
	device := d.do("POST", "/api/v1/session/device", nil).Cookies()[0]
	entry := d.say(spammer, 4).EntryID
	requests := d.validRequests(channelID)
	requests["GET /viewer"], requests["DELETE /viewer"] = validRequest{nil, d.asViewer(viewerOf(spammer))}, validRequest{nil, d.asViewer(viewerOf(spammer))}
	users := "POST /channels/" + channelID + "/users/"
	requests[users+"44/timeout"] = requests[users+spammer.ID+"/timeout"]
	requests["GET /session/device"] = validRequest{nil, addCookie(device)}
	own, err := d.opts.Webhooks.Add(t.Context(), webhook.Wanted{Name: "own", Address: "https://example.com/hook", Format: webhook.Discord, Events: webhook.Kinds}, "owner")
	if err != nil {
		t.Fatal(err)
	}
	requests["PUT /webhooks/"+own.Hook.ID] = validRequest{map[string]any{"name": "own", "format": "discord", "events": []string{"raid"}}, asOwner}
	doc := decode[document](t, d.do("GET", "/api/v1/openapi.json", nil))
	fill := strings.NewReplacer("{channel}", channelID, "{id}", spammer.ID, "{entry}", fmt.Sprint(entry))
	order := []string{"put", "patch", "post", "get", "delete"} // a revert needs an earlier revision
	for _, method := range order {
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			op := doc.Paths[path][method]
			if op == nil || path == "/live" { // tested by dialing it
				continue
			}
			fill := fill.Replace
			if strings.Contains(path, "{note}") {
				n, err := d.store.AddNote(journal.Note{ChannelID: channelID, UserID: spammer.ID, Text: "x"})
				if err != nil {
					t.Fatal(err)
				}
				fill = strings.NewReplacer("{channel}", channelID, "{id}", spammer.ID, "{note}", fmt.Sprint(n.ID)).Replace
			}
			if strings.Contains(path, "{pardon}") {
				d.say(spammer, 20)
				fill = strings.NewReplacer("{channel}", channelID, "{id}", spammer.ID, "{pardon}", fmt.Sprint(d.pardonSpammer().ID)).Replace
			}
			switch {
			case strings.Contains(path, "{delivery}"):
				number := d.bury(receiver, hook.ID)
				if _, err := d.opts.Webhooks.Test(t.Context(), hook.ID, "owner"); err != nil {
					t.Fatal(err)
				}
				fill = strings.NewReplacer("{webhook}", hook.ID, "{delivery}", fmt.Sprint(number)).Replace
			case path == "/webhooks/{webhook}": // only those that aren't of the configuration can be changed
				fill = strings.NewReplacer("{webhook}", own.Hook.ID).Replace
			case strings.Contains(path, "{webhook}"):
				fill = strings.NewReplacer("{webhook}", hook.ID).Replace
			}
			if strings.Contains(path, "{session}") || strings.Contains(path, "{link}") || strings.Contains(path, "{name}") {
				d.signIn(map[string]string{"code": d.newCode("berta")})
				d.newCode("berta")
				all := decode[shownGrants](t, d.do("GET", "/api/v1/access", nil, asOwner))
				session := slices.IndexFunc(all.Sessions, func(s auth.Session) bool { return s.Name == "berta" })
				fill = strings.NewReplacer("{session}", all.Sessions[session].ID, "{link}", all.Links[len(all.Links)-1].ID, "{name}", "berta").Replace
			}
			switch { // pardons lift nothing that a person gave
			case strings.HasSuffix(path, "/ban"):
				fill = strings.NewReplacer("{channel}", channelID, "{id}", "43").Replace
			case strings.HasSuffix(path, "/timeout"):
				fill = strings.NewReplacer("{channel}", channelID, "{id}", "44").Replace
			}
			name := strings.ToUpper(method) + " " + fill(path)
			sent, ok := requests[name]
			if !ok {
				sent.adjust = asOwner
			}
			if op.RequestBody != nil {
				d.wantNoNull(name, sent.adjust)
			}
			a := d.do(strings.ToUpper(method), "/api/v1"+fill(path), sent.body, asOwner, sent.adjust)
			if _, ok := op.Responses[fmt.Sprint(a.StatusCode)]; !ok || a.StatusCode >= 400 {
				t.Errorf("%s: %s %s", name, a.Status, a.body)
			}
		}
	}
}

// validRequest is what is sent to a route.
type validRequest struct {
	body   any
	adjust func(*http.Request)
}

// validRequests returns valid requests to the routes that need a body or a header, by method and
// path. Those in a path are for a channel and the spammer.
func (d *dashboard) validRequests(channel string) map[string]validRequest {
	policy := d.guard.ChannelPolicy(channel)
	policy.Limits[0].Burst = 9
	settings, _ := d.control.Settings.Of(channel)
	settings.Raid.Burst++
	user := "/channels/" + channel + "/users/" + spammer.ID
	whatever := setHeader("If-Match", "*")
	return map[string]validRequest{
		"PUT /channels/" + channel + "/policy":         {policy, whatever},
		"DELETE /channels/" + channel + "/policy":      {nil, whatever},
		"POST /channels/" + channel + "/policy/revert": {map[string]int{"revision": 1}, whatever},
		"POST /channels/" + channel + "/preview":       {map[string]any{"policy": policy}, asOwner},
		"POST /lab":                                    {map[string]any{"lanes": []any{map[string]any{"limits": []any{}}}}, asOwner},
		"PUT /channels/" + channel + "/settings":       {settings, whatever},
		"DELETE /channels/" + channel + "/settings":    {nil, whatever},
		"POST /channels/" + channel + "/raid":          {map[string]string{"for": "10m"}, asOwner},
		"PATCH /channels/" + channel + "/modes":        {map[string]bool{"emote_mode": true}, asOwner},
		"POST " + user + "/grant":                      {map[string]int{"messages": 5}, asOwner},
		"POST " + user + "/notes":                      {map[string]string{"text": "Friendly."}, asOwner},
		"POST " + user + "/exempt":                     {map[string]string{"for": "10m"}, asOwner},
		"POST " + user + "/timeout":                    {map[string]string{"length": "10m"}, asOwner},
		"PUT " + user + "/override":                    {chatguard.UserOverride{Timezone: "Europe/Berlin"}, asOwner},
		"POST /webhooks":                               {aWebhook, asOwner},
		"POST /tokens":                                 {tokenWanted{Name: "anna", Role: auth.View, Expires: "90d"}, asOwner},
		"POST /links":                                  {linkWanted{Name: "anna", Role: auth.View}, asOwner},
		"POST /session":                                {map[string]string{"token": token}, asOwner},
		"POST /check":                                  {checkForm{Channel: "lobby", UserID: "1"}, asOwner},
		"POST /check/batch":                            {batchForm{Messages: []checkForm{{Channel: "lobby", UserID: "1"}}}, asOwner},
		"POST /check/refund":                           {refundForm{Channel: "lobby", UserID: "1", At: d.now(), Spent: 1}, asOwner},
	}
}

// wantNoNull sends null to a route that reads JSON, which must be refused as null. It also sends
// {}, which may be valid but must not cause an internal error.
func (d *dashboard) wantNoNull(name string, adjust func(*http.Request)) {
	d.Helper()
	method, path, _ := strings.Cut(name, " ")
	if a := d.do(method, "/api/v1"+path, json.RawMessage("null"), asOwner, adjust); a.StatusCode != 400 || !strings.Contains(string(a.body), "it is null") {
		d.Errorf("%s of null: %s %s", name, a.Status, a.body)
	}
	if a := d.do(method, "/api/v1"+path, json.RawMessage("{}"), asOwner, adjust); a.StatusCode >= 500 {
		d.Errorf("%s of {}: %s %s", name, a.Status, a.body)
	}
}

// The document describes the frames of the live feed, which checkContract never sees.
func TestOpenAPI_Frames(t *testing.T) {
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	d := dash(t)
	l := d.listen()
	documented := c.paths["/live"]["get"].Responses["101"].Content["application/json"].Schema
	want := map[live.FrameType]bool{live.SnapshotFrame: true, live.ThrottledFrame: true, live.StatusFrame: true, live.PolicyFrame: true}
	d.say(spammer, 4)
	d.put(burst(9))
	for len(want) > 0 {
		_, data, err := l.conn.Read(l.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.validate(documented, data); err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		var fr live.Frame
		if err := json.Unmarshal(data, &fr); err != nil {
			t.Fatal(err)
		}
		delete(want, fr.Type)
	}
	if c.validate(documented, []byte(`{"seq": 1, "now": "2026-01-05T20:00:00Z", "type": "other"}`)) == nil {
		t.Error("a frame may have any type")
	}
}

// Answers have the documented headers, at least those that a client needs before its next request.
func TestOpenAPI_AnswerHeaders(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.ExportPolicy = func(chatguard.Policy) ([]byte, error) { return nil, nil }
	})
	c, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	for name, query := range map[string]string{
		"GET /channels/{channel}/policy": "", "PUT /channels/{channel}/policy": "", "DELETE /channels/{channel}/policy": "",
		"GET /channels/{channel}/policy/export": "", "GET /journal": "?format=csv", "GET /audit": "?format=csv",
	} {
		method, path, _ := strings.Cut(name, " ")
		filled := strings.ReplaceAll(path, "{channel}", channelID)
		a := d.do(method, "/api/v1"+filled+query, d.validRequests(channelID)[method+" "+filled].body, asOwner, setHeader("If-Match", "*"))
		documented := slices.Collect(maps.Keys(c.paths[path][strings.ToLower(method)].Responses["200"].Headers))
		if len(documented) != 1 || a.Header.Get(documented[0]) == "" {
			t.Errorf("%s: documented are %q, and it has %v", name, documented, a.Header)
		}
	}
}
