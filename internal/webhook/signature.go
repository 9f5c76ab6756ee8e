package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Secret is the secret with which a hook's requests are signed, in the form of Standard Webhooks:
// "whsec_" and the key in base64. Its text forms hide it.
type Secret string

// String returns whether there is a secret, but not the secret.
func (s Secret) String() string {
	if s == "" {
		return "unset"
	}
	return "hidden"
}

// MarshalText returns the text of String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

const (
	secretPrefix = "whsec_"
	leastKey     = 24 // bytes
	mostKey      = 64
)

// NewSecret returns a random secret.
func NewSecret() Secret {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// CheckSecret returns an error, as a sentence for people, unless a person may use this secret.
func CheckSecret(s Secret) error {
	_, err := s.key()
	return err
}

// key returns the key of the secret.
func (s Secret) key() ([]byte, error) {
	text, ok := strings.CutPrefix(string(s), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	switch {
	case !ok || err != nil:
		return nil, errors.New("it is not a secret of a webhook: want whsec_ and random bytes in base64 (openssl rand -base64 32)")
	case len(key) < leastKey || len(key) > mostKey:
		return nil, fmt.Errorf("it has %d bytes after whsec_, and %d to %d are allowed: use openssl rand -base64 32", len(key), leastKey, mostKey)
	}
	return key, nil
}

// sign signs a body as Standard Webhooks define it (https://www.standardwebhooks.com): the
// signature covers the message's ID, the time of this try and the body.
func (s Secret) sign(header http.Header, id string, at time.Time, body []byte) error {
	key, err := s.key()
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", stamp)
	header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}
