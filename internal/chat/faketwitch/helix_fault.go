package faketwitch

// FailNext makes Helix answer its next requests with these faults, one each.
func (s *helixServer) FailNext(list ...Fault) {
	s.locked(func() { s.faults.next = append(s.faults.next, list...) })
}

// SetHelixFaults makes Helix answer a request with the fault that decide returns, if any. A nil
// decide ends this. Faults from FailNext take precedence. The Request has no Status yet. decide is
// called for one request at a time, in order of arrival, and must not call the Server.
func (s *helixServer) SetHelixFaults(decide func(Request) (Fault, bool)) {
	s.locked(func() { s.faults.decide = decide })
}
