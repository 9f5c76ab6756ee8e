package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The example is one of Standard Webhooks' libraries.
func TestSign_StandardWebhooks(t *testing.T) {
	header := http.Header{}
	must(t, secret.sign(header, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)))
	for name, want := range map[string]string{
		"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330", "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// wantSigned checks a request's signature, computed from the definition.
func wantSigned(t *testing.T, r request) (id, stamp string) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), "whsec_"))
	must(t, err)
	id, stamp = r.header.Get("webhook-id"), r.header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "." + string(r.body)))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.header.Get("webhook-signature") != want {
		t.Errorf("the signature is %s, want %s", r.header.Get("webhook-signature"), want)
	}
	return id, stamp
}

// A repetition has the same ID and body, and the time of its own try.
func TestSend_Signed(t *testing.T) {
	s, b := answering(t, http.StatusInternalServerError)
	b.Send(pauseBy("berta"))
	first := s.next()
	id, stamp := wantSigned(t, first)
	s.answersStatus(http.StatusOK)
	b.clock.skipPause()
	second := s.next()
	again, later := wantSigned(t, second)
	if id != again || string(first.body) != string(second.body) || stamp == later || !strings.HasPrefix(id, "msg_") {
		t.Errorf("%s at %s: %s\n%s at %s: %s", id, stamp, first.body, again, later, second.body)
	}
	var e Event
	must(t, json.Unmarshal(first.body, &e))
	if e.ID != id || e.Kind != Pause || *e.Channel != *channel || *e.Pause != (PauseChange{true, "berta"}) || e.At.IsZero() || e.Test {
		t.Errorf("%s", first.body)
	}
	if e.Text != "#somechannel: Paused. berta paused chatguard. Nobody is throttled until somebody resumes." {
		t.Errorf("the text is %q", e.Text)
	}
	if first.header.Get("Content-Type") != "application/json" || first.header.Get("User-Agent") != "chatguard" {
		t.Errorf("%v", first.header)
	}
}

func TestCheckSecret(t *testing.T) {
	for text, isGood := range map[Secret]bool{
		secret: true, NewSecret(): true, "": false, "whsec_": false, "whsec_c2hvcnQ=": false, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw": false, "whsec_*": false,
		Secret("whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65))): false,
	} {
		if err := CheckSecret(text); (err == nil) != isGood || err != nil && text != "" && strings.Contains(err.Error(), string(text[min(6, len(text)):])) && len(text) > 10 {
			t.Errorf("%s: %v", string(text), err)
		}
	}
	if first, second := NewSecret(), NewSecret(); first == second || first.String() != "hidden" {
		t.Error("secrets aren't random, or are shown")
	}
}
