package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// verify returns an error unless a request was signed with the secret in the last five minutes.
func verify(secret string, header http.Header, body []byte) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the time stamp is missing or too old")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err == nil && hmac.Equal(sum, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("the signature is wrong")
}

// The function of docs/webhooks.md accepts what chatguard sends, and nothing else.
func TestVerify_OfTheDocumentation(t *testing.T) {
	s := serve(t)
	c := newClient(nil, time.Now)
	h := to(s)
	h.Secret = NewSecret()
	if o := c.send(t.Context(), h, &Event{ID: "msg_1", Kind: Test}); o.fate != delivered {
		t.Fatalf("%+v", o)
	}
	r := s.next()
	must(t, verify(string(h.Secret), r.header, r.body))
	changed := func(name, value string) http.Header {
		header := r.header.Clone()
		header.Set(name, value)
		return header
	}
	later := strconv.FormatInt(time.Now().Unix()+1, 10)
	old := http.Header{}
	must(t, h.Secret.sign(old, "msg_1", time.Now().Add(-6*time.Minute), r.body))
	for what, err := range map[string]error{
		"another secret": verify(string(NewSecret()), r.header, r.body),
		"another body":   verify(string(h.Secret), r.header, append(r.body, ' ')),
		"another ID":     verify(string(h.Secret), changed("webhook-id", "msg_2"), r.body),
		"another time":   verify(string(h.Secret), changed("webhook-timestamp", later), r.body),
		"no signature":   verify(string(h.Secret), changed("webhook-signature", ""), r.body),
		"an old time":    verify(string(h.Secret), old, r.body),
	} {
		if err == nil {
			t.Errorf("accepted: %s", what)
		}
	}
	code, err := os.ReadFile("example_verify_test.go")
	must(t, err)
	page, err := os.ReadFile("../../docs/webhooks.md")
	must(t, err)
	_, function, _ := strings.Cut(string(code), "// verify returns")
	function, _, _ = strings.Cut(function, "\n}\n")
	if !strings.Contains(string(page), "// verify returns"+function+"\n}\n") {
		t.Error("docs/webhooks.md has another function than this file")
	}
}
