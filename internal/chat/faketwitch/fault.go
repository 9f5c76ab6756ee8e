package faketwitch

import "net/http"

// faults is what the server is to do wrong. The Server's mu guards it.
type faults struct {
	refuseLogins  bool
	stalledLogins int
	hangUps       int
	helix         []Fault
}

// Fault is how Helix answers one request in place of doing what was asked.
type Fault struct {
	Status  int         // 0 cuts the connection without an answer
	Header  http.Header // added to the answer
	Message string      // of the answer's JSON
	After   bool        // do what was asked, and then answer so all the same
}

// FailNext lets Helix answer its next requests with these faults, one each.
func (s *Server) FailNext(list ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.helix = append(s.faults.helix, list...)
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

// takeHelix takes the next fault, if there is one.
func (f *faults) takeHelix() (Fault, bool) {
	if len(f.helix) == 0 {
		return Fault{}, false
	}
	next := f.helix[0]
	f.helix = f.helix[1:]
	return next, true
}
