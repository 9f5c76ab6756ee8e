package faketwitch

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// AsAsked is the Status of a Fault that carries out the request and answers with its real result,
// but late, truncated, or with extra headers.
const AsAsked = -1

// Fault is how Helix or the identity server answers one request instead of carrying it out.
type Fault struct {
	Status  int           // 0 closes the connection without an answer
	Header  http.Header   // added to the answer
	Message string        // message in the answer's JSON
	Body    string        // the whole body, in place of Message's; it need not be JSON
	After   bool          // carry out the request, then answer with the fault
	Delay   time.Duration // delay of the answer
	Cut     bool          // cut the connection in the middle of the body
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

// answer returns the fault's answer to a request, as a refusal in the server's format. It calls do
// only if the fault carries the request out.
func (f Fault) answer(refuse func(status int, message string) reply, do func() reply) reply {
	if f.Status == AsAsked {
		return do()
	}
	answer := refuse(f.Status, f.Message)
	if f.Body != "" {
		answer.body = json.RawMessage(f.Body)
	}
	if f.After {
		answer.then = do().then
	}
	return answer
}

// faults are the faults of a server. The Server's mu guards them.
type faults struct {
	next []Fault
	// decide returns the fault for a request if next is empty. A nil decide means no fault.
	decide func(Request) (Fault, bool)
}

// take returns the fault for a request. If there is none, it returns a fault that changes
// nothing.
func (f *faults) take(r Request) Fault {
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

// takeOne reports whether a number of faults is above 0, and if so reduces it by one.
func takeOne(n *int) bool {
	if *n <= 0 {
		return false
	}
	*n--
	return true
}
