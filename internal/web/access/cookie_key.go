package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// CookieKey signs the contents of cookies, so that only this process can make or change them.
// Create one with NewCookieKey.
type CookieKey []byte

// encoding encodes the parts of a cookie's value. Each value has only one form.
var encoding = base64.RawURLEncoding.Strict()

// NewCookieKey returns a new key.
func NewCookieKey() CookieKey {
	key := make(CookieKey, sha256.Size)
	rand.Read(key) // never fails
	return key
}

// Seal returns a cookie's value: the content, which must have a JSON form, and its signature.
func (k CookieKey) Seal(content any) string {
	data, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	text := encoding.EncodeToString(data)
	return text + "." + encoding.EncodeToString(k.sign(text))
}

// Open reads the content of a cookie's value. It returns false if the key has not signed it.
func (k CookieKey) Open(value string, content any) bool {
	text, signature, _ := strings.Cut(value, ".")
	given, err := encoding.DecodeString(signature)
	if err != nil || !hmac.Equal(given, k.sign(text)) {
		return false
	}
	data, err := encoding.DecodeString(text)
	return err == nil && json.Unmarshal(data, content) == nil
}

func (k CookieKey) sign(text string) []byte {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(text)) // never fails
	return mac.Sum(nil)
}
