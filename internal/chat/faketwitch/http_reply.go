package faketwitch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// reply is an endpoint's answer. A nil body means no body. Use refusal for refusals.
type reply struct {
	status int
	body   any
	then   func() // called without mu before the answer is sent
}

// listReply returns a Helix answer with a list.
func listReply(list any) reply {
	return reply{status: http.StatusOK, body: map[string]any{"data": list}}
}

// refusal returns a Helix answer with an error.
func refusal(status int, message string) reply {
	return reply{status: status, body: map[string]any{"error": http.StatusText(status), "status": status, "message": message}}
}

// encode returns the body. A json.RawMessage is sent as it is, even if it isn't JSON.
func (a reply) encode() []byte {
	if raw, ok := a.body.(json.RawMessage); ok {
		return raw
	}
	body, err := json.Marshal(a.body)
	if err != nil {
		panic(fmt.Errorf("fake twitch: an answer that can't be JSON: %w", err))
	}
	return body
}

// deliver sends the answer. Status 0 closes the connection instead. If cut is set, it sends the
// first half of the body and then cuts the connection. If cut is set and there is no body, it sends
// nothing.
func (a reply) deliver(w http.ResponseWriter, cut bool) {
	if a.status == 0 || cut && a.body == nil {
		panic(http.ErrAbortHandler)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	body := a.encode()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	if cut {
		_, _ = w.Write(body[:len(body)/2]) // the answer is incomplete either way
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body) // an error means that the client is gone
}
