package faketwitch

// chatFaults are the faults of chat over IRC. The Server's mu guards them.
type chatFaults struct {
	refuseLogins  bool
	stalledLogins int
	hangUps       int
	closeAfter    int // lines until a new connection is closed
}

// RefuseLogins makes every login to the chat fail, if on is true.
func (s *chatServer) RefuseLogins(on bool) { s.locked(func() { s.faults.refuseLogins = on }) }

// StallLogins makes the server send no welcome to the next n clients that log in to the chat.
func (s *chatServer) StallLogins(n int) { s.locked(func() { s.faults.stalledLogins = n }) }

// HangUp closes the next n connections to the chat as soon as they are accepted.
func (s *chatServer) HangUp(n int) { s.locked(func() { s.faults.hangUps = n }) }

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

// CloseAfter closes every chat connection made from now on after n lines from the server. 0 removes
// the limit.
func (s *chatServer) CloseAfter(n int) { s.locked(func() { s.faults.closeAfter = n }) }

// Stall makes the current chat connections silent permanently: they stay open, but nothing is
// written or answered.
func (s *chatServer) Stall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.stalled.Store(true)
	}
}
