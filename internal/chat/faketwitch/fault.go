package faketwitch

import (
	"context"
	"net/http"
	"time"
)

// faults is what the server is to do wrong. The Server's mu guards it.
type faults struct {
	refuseLogins  bool
	stalledLogins int
	hangUps       int
	helix         []Fault
	helixAny      func(Request) (Fault, bool) // decides on requests that none of these is for; nil for none
}

// AsAsked is the Status of a Fault that does what was asked and answers as usual, but late, cut off, or with other headers.
const AsAsked = -1

// Fault is how Helix answers one request in place of doing what was asked.
type Fault struct {
	Status  int           // 0 cuts the connection without an answer
	Header  http.Header   // added to the answer
	Message string        // of the answer's JSON
	After   bool          // do what was asked, and then answer so all the same
	Delay   time.Duration // how long the answer keeps the client waiting
	Cut     bool          // break off in the middle of the answer's body
}

// FailNext lets Helix answer its next requests with these faults, one each.
func (s *Server) FailNext(list ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.helix = append(s.faults.helix, list...)
}

// SetHelixFaults lets Helix answer a request with the fault that decide returns for it, where it returns one and FailNext hasn't said otherwise; nil
// ends that. The Request has no Status yet. One request is decided on at a time, in the order of arrival; decide must not call the Server.
func (s *Server) SetHelixFaults(decide func(Request) (Fault, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.helixAny = decide
}

// stall keeps a client waiting, until it goes.
func (f Fault) stall(client context.Context) {
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-client.Done():
	}
}

// RefuseLogins lets every login to the chat fail, or no longer.
func (s *Server) RefuseLogins(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.refuseLogins = on
}

// StallLogins lets the next n logins to the chat wait for a welcome that never comes.
func (s *Server) StallLogins(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.stalledLogins = n
}

// HangUp closes the next n connections to the chat as soon as they are accepted.
func (s *Server) HangUp(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.hangUps = n
}

// Disconnect closes all connections to the chat.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.conn.Close()
	}
}

// Reconnect tells all clients of the chat to reconnect, as Twitch does before it takes a server away.
func (s *Server) Reconnect() { s.SendRaw(":tmi.twitch.tv RECONNECT") }

func (f *faults) takeHangUp() bool {
	if f.hangUps == 0 {
		return false
	}
	f.hangUps--
	return true
}

// takeHelix takes the fault that is due for a request; where there is none, one that changes nothing.
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

// answer is what the fault makes of the answer to a request, which is done only where the fault says so.
func (f Fault) answer(do func() reply) reply {
	if f.Status == AsAsked {
		return do()
	}
	answer := refuse(f.Status, "%s", f.Message)
	if f.After {
		answer.then = do().then
	}
	return answer
}
