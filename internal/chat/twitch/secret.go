package twitch

import (
	"errors"
	"strings"
)

// BareToken removes the prefix "oauth:", which IRC needs and Helix doesn't. It refuses a text that
// can't be a token, because such a text could change the meaning of what is sent to the server.
func BareToken(token string) (string, error) {
	token = strings.TrimPrefix(strings.TrimSpace(token), "oauth:")
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return "", errors.New("the token contains an invalid character")
		}
	}
	if token == "" {
		return "", errors.New("the token is empty")
	}
	return token, nil
}
