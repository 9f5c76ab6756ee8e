package httpguard

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// ErrNobody is the error that an identification function returns if the request doesn't identify a
// known user. The middleware then answers with status 401.
var ErrNobody = errors.New("httpguard: the request doesn't identify a known user")

// identified returns the user whom identify identifies.
func identified(identify func(*http.Request) (chatguard.User, error), r *http.Request) (chatguard.User, error) {
	user, err := identify(r)
	if err == nil && connguard.IsReservedID(user.ID) != user.Visitor {
		err = fmt.Errorf("httpguard: identify returned the ID %q: %w", user.ID, connguard.ErrReservedID)
	}
	return user, err
}

// Anonymous identifies everyone as the same visitor, connguard.AnonymousID, who has a single
// allowance of messages. Their connections are limited by address only.
func Anonymous(*http.Request) (chatguard.User, error) {
	return chatguard.User{ID: connguard.AnonymousID, Visitor: true}, nil
}

// ByAddress identifies visitors by the address that the request comes from, as ClientAddress
// returns it. The user ID is that of connguard.AddressID. Everyone behind one address is therefore
// one user. For a request without an address, such as one over a Unix socket, it returns an error
// and no user.
func ByAddress(opts *AddressOptions) func(*http.Request) (chatguard.User, error) {
	bits := opts.bits()
	return func(r *http.Request) (chatguard.User, error) {
		addr := ClientAddress(r, opts)
		if !addr.IsValid() {
			return chatguard.User{}, fmt.Errorf("httpguard: the request comes from %q, which is not an address: set RemoteAddr in a handler in front of this one", r.RemoteAddr)
		}
		if bits < 1 || bits > 128 {
			return chatguard.User{}, fmt.Errorf("httpguard: AddressOptions.IPv6Bits is %d: use a number from 1 to 128", bits)
		}
		return chatguard.User{ID: connguard.AddressID(addr, bits), Visitor: true}, nil
	}
}

// ByKey identifies users by an API key in a header. The key is the header's whole value, or the
// part after "Bearer " as in "Authorization: Bearer KEY". It returns ErrNobody if the key is
// missing or unknown.
//
// The key is secret. ByKey passes it only to known, which must return a user ID that reveals
// nothing about the key. Let known look up a hash of the key, so that neither the stored data nor
// the response time reveals the key.
func ByKey(header string, known func(key string) (chatguard.User, bool)) func(*http.Request) (chatguard.User, error) {
	return func(r *http.Request) (chatguard.User, error) {
		key := strings.TrimSpace(r.Header.Get(header))
		if scheme, bearer, _ := strings.Cut(key, " "); strings.EqualFold(scheme, "Bearer") {
			key = strings.TrimSpace(bearer)
		}
		if key == "" {
			return chatguard.User{}, ErrNobody
		}
		user, ok := known(key)
		if !ok {
			return chatguard.User{}, ErrNobody
		}
		return user, nil
	}
}

// maxValue is the maximum length in bytes of a value that ByValue uses as it is.
const maxValue = 128

// ByValue identifies users by a value of the request, such as the account's name in a sign-in form,
// for limits on what happens to that account. The user ID is "value:anna", or "value:sha256:" and a
// hash if the value is longer than 128 bytes. An empty value is ErrNobody. Clients choose the
// value, so it doesn't say who they are: never use ByValue for Sessions.
//
// value should return equal texts for what counts as the same, for example a name in lower case. If
// it reads the request's body, put http.MaxBytesHandler in front.
func ByValue(value func(*http.Request) string) func(*http.Request) (chatguard.User, error) {
	return func(r *http.Request) (chatguard.User, error) {
		id := value(r)
		switch {
		case id == "":
			return chatguard.User{}, ErrNobody
		case len(id) > maxValue:
			id = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(id)))
		}
		return chatguard.User{ID: "value:" + id}, nil
	}
}

// FirstOf calls several identification functions in order, and returns the result of the first one
// that doesn't return ErrNobody. So if ByKey comes first, a request with a wrong key is treated
// like a request without a key.
func FirstOf(ways ...func(*http.Request) (chatguard.User, error)) func(*http.Request) (chatguard.User, error) {
	return func(r *http.Request) (chatguard.User, error) {
		for _, way := range ways {
			if user, err := way(r); !errors.Is(err, ErrNobody) {
				return user, err
			}
		}
		return chatguard.User{}, ErrNobody
	}
}
