package faketwitch

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// frame renders a frame that is sent now. The caller holds mu.
func (s *Server) frame(kind string, payload map[string]any) string {
	s.events.framed++
	return s.frameAt(s.opts.Now(), kind, fmt.Sprintf("fa4e7817-e000-4000-8000-%012x", s.events.framed), nil, payload)
}

// frameAt renders a frame the way Twitch does. The caller holds mu.
func (s *Server) frameAt(at time.Time, kind, id string, of *eventSubscription, payload map[string]any) string {
	metadata := map[string]any{"message_id": id, "message_type": kind, "message_timestamp": at.UTC().Format(time.RFC3339Nano)}
	if of != nil {
		metadata["subscription_type"], metadata["subscription_version"] = of.kind, of.version
		payload = maps.Clone(payload)
		payload["subscription"] = of.render()
	}
	text, err := json.Marshal(map[string]any{"metadata": metadata, "payload": payload})
	if err != nil {
		panic(fmt.Sprintf("fake twitch: a frame can't be rendered: %v", err)) // it is made of text, numbers and times
	}
	return string(text)
}

// eventNotice is a frame on its way to a socket.
type eventNotice struct {
	to   *eventSocket
	text string
}
