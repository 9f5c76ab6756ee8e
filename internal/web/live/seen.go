package live

// Seen counts the messages of a channel since chatguard started.
type Seen struct {
	Messages uint64 `json:"messages"`
	Observed uint64 `json:"observed"` // messages that would have been throttled
}

// Seen returns how much chatguard has seen of a channel.
func (m *Model) Seen(channel string) Seen {
	counted := (*m.tallies.current.Load())[channel]
	if channel == "" || counted == nil {
		return Seen{}
	}
	return Seen{Messages: counted.messages.Get(), Observed: counted.observed.Get()}
}
