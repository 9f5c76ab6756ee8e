package faketwitch

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// frame renders a frame with the current time. The caller holds mu.
func (s *eventSub) frame(kind string, payload map[string]any) string {
	s.framed++
	return s.frameAt(s.opts.Now(), kind, fmt.Sprintf("fa4e7817-e000-4000-8000-%012x", s.framed), nil, payload)
}

// frameAt renders a frame as Twitch does. The caller holds mu.
func (s *eventSub) frameAt(at time.Time, kind, id string, of *eventSubscription, payload map[string]any) string {
	metadata := map[string]any{"message_id": id, "message_type": kind, "message_timestamp": at.UTC().Format(time.RFC3339Nano)}
	if of != nil {
		metadata["subscription_type"], metadata["subscription_version"] = of.kind, of.version
		payload = maps.Clone(payload)
		payload["subscription"] = of.render()
	}
	text, err := json.Marshal(map[string]any{"metadata": metadata, "payload": payload})
	if err != nil {
		// can't happen: only text, numbers and times
		panic(fmt.Sprintf("fake twitch: a frame can't be rendered: %v", err))
	}
	return string(text)
}

// eventNotice is a frame to be sent to a socket.
type eventNotice struct {
	to   *eventSocket
	text string
}
