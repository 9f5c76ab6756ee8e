package faketwitch

// helixFaults are the faults of Helix. The Server's mu guards them.
type helixFaults struct {
	next []Fault
	// decide returns the fault for a request if there is no next one. Nil means that there is none.
	decide func(Request) (Fault, bool)
}

// FailNext makes Helix answer its next requests with these faults, one each.
func (s *helixServer) FailNext(list ...Fault) {
	s.locked(func() { s.faults.next = append(s.faults.next, list...) })
}

// SetHelixFaults makes Helix answer a request with the fault that decide returns, if any. A nil
// decide ends this. Faults from FailNext take precedence. The Request has no Status yet. decide is
// called for one request at a time, in order of arrival, and must not call the Server.
func (s *helixServer) SetHelixFaults(decide func(Request) (Fault, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.decide = decide
}

// take returns the fault for a request. If there is none, it returns a fault that changes
// nothing.
func (f *helixFaults) take(r Request) Fault {
	if len(f.next) > 0 {
		next := f.next[0]
		f.next = f.next[1:]
		return next
	}
	if f.decide != nil {
		if fault, ok := f.decide(r); ok {
			return fault
		}
	}
	return Fault{Status: AsAsked}
}
