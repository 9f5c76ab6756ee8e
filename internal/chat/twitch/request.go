package twitch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// request is one thing asked of Twitch, however often it has to be sent.
type request struct {
	op     string // what is done to whom, for errors: "delete message 1234"
	method string
	url    string
	scheme string // before the token in the Authorization header; empty means Bearer
	body   any    // sent as JSON; nil sends none

	essential bool        // may use what is kept of the budget for what must not wait behind moderation
	once      bool        // is sent at once or not at all, and not again where Twitch may have done it
	unless    func() bool // looked at before each try: true where there is nothing left to do, which is errNeedless; nil means never
	forbidden error       // what a 403 means; nil means ErrNotModerator
	lasting   bool        // a 409 won't pass: what is asked for is there already, which is the caller's to understand
}

// answer is what Twitch said to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// says is Twitch's own explanation of a refusal: the message of its JSON, or the status where there is none.
func (a answer) says() string {
	var problem struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(a.body, &problem) != nil || problem.Message == "" {
		return fmt.Sprintf("status %d", a.status)
	}
	return fmt.Sprintf("status %d, %s", a.status, oneLine(problem.Message))
}

// refused is an error of the given kind that quotes Twitch.
func (r request) refused(kind error, a answer) error {
	return fmt.Errorf("%s: %w (Twitch: %s)", r.op, kind, a.says())
}

// decode reads the answer's JSON into v.
func (r request) decode(a answer, v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("%s: %w (its answer can't be read: %w)", r.op, ErrRejected, err)
	}
	return nil
}

// send sends a request once. The error is for an exchange that didn't come to its end, and never holds the token.
func (h *Helix) send(ctx context.Context, r request, token string) (answer, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return answer{}, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", cmp.Or(r.scheme, "Bearer")+" "+token)
	if id := h.clientID(); id != "" {
		req.Header.Set("Client-Id", id)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := h.client().Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	// Reading to the end lets the connection be used again; past the bound it is closed instead.
	read, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		read = bytes.ReplaceAll(read, []byte(token), []byte("[token]"))
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: read}, nil
}

// bareToken takes the prefix off that IRC wants and Helix doesn't, and refuses what can't be a token: it would reach the server as a part of
// something else.
func bareToken(token string) (string, error) {
	token = strings.TrimPrefix(strings.TrimSpace(token), "oauth:")
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return "", errors.New("the token holds a character that no token has")
		}
	}
	if token == "" {
		return "", errors.New("the token is empty")
	}
	return token, nil
}
