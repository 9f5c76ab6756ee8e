package faketwitch

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// faults are the server's faults. The Server's mu guards them.
type faults struct {
	refuseLogins  bool
	stalledLogins int
	hangUps       int
	helix         []Fault
	// helixAny returns the fault for a request if the list helix is empty. Nil means that there is
	// none.
	helixAny func(Request) (Fault, bool)
}

// AsAsked is the Status of a Fault that carries out the request and answers with its real result,
// but late, truncated, or with extra headers.
const AsAsked = -1

// Fault is how Helix answers one request instead of carrying it out.
type Fault struct {
	Status  int           // 0 closes the connection without an answer
	Header  http.Header   // added to the answer
	Message string        // message in the answer's JSON
	Body    string        // the whole answer, instead; it need not be JSON
	After   bool          // carry out the request, then answer with the fault
	Delay   time.Duration // delay of the answer
	Cut     bool          // cut the connection in the middle of the body
}

// FailNext makes Helix answer its next requests with these faults, one each.
func (s *helixServer) FailNext(list ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.helix = append(s.faults.helix, list...)
}

// SetHelixFaults makes Helix answer a request with the fault that decide returns, if any. A nil
// decide ends this. Faults from FailNext take precedence. The Request has no Status yet. decide is
// called for one request at a time, in order of arrival, and must not call the Server.
func (s *helixServer) SetHelixFaults(decide func(Request) (Fault, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.helixAny = decide
}

// stall delays an answer until the delay is over or the client leaves.
func (f Fault) stall(client context.Context) {
	if f.Delay <= 0 {
		return
	}
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-client.Done():
	}
}

// RefuseLogins makes every login to the chat fail, if on is true.
func (s *chatServer) RefuseLogins(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.refuseLogins = on
}

// StallLogins makes the server send no welcome to the next n clients that log in to the chat.
func (s *chatServer) StallLogins(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.stalledLogins = n
}

// HangUp closes the next n connections to the chat as soon as they are accepted.
func (s *chatServer) HangUp(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.hangUps = n
}

// Disconnect closes all connections to the chat.
func (s *chatServer) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.conn.Close()
	}
}

// Reconnect asks all chat clients to reconnect, as Twitch does before it removes a server.
func (s *chatServer) Reconnect() { s.SendRaw(":tmi.twitch.tv RECONNECT") }

func (f *faults) takeHangUp() bool {
	if f.hangUps == 0 {
		return false
	}
	f.hangUps--
	return true
}

// takeHelix returns the fault for a request. If there is none, it returns a fault that changes
// nothing.
func (f *faults) takeHelix(r Request) Fault {
	if len(f.helix) > 0 {
		next := f.helix[0]
		f.helix = f.helix[1:]
		return next
	}
	if f.helixAny != nil {
		if fault, ok := f.helixAny(r); ok {
			return fault
		}
	}
	return Fault{Status: AsAsked}
}

// answer returns the fault's answer to a request. It calls do only if the fault carries the request
// out.
func (f Fault) answer(do func() reply) reply {
	if f.Status == AsAsked {
		return do()
	}
	answer := refusal(f.Status, "%s", f.Message)
	if f.Body != "" {
		answer.body = json.RawMessage(f.Body)
	}
	if f.After {
		answer.then = do().then
	}
	return answer
}
