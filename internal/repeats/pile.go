package repeats

// pile is a heap of channels, for container/heap.
type pile struct {
	channels []*channel
	place    int // which of a channel's places is that in this pile
	compare  func(a, b *channel) int
}

func (p *pile) Len() int { return len(p.channels) }

func (p *pile) Less(i, j int) bool { return p.compare(p.channels[i], p.channels[j]) < 0 }

func (p *pile) Swap(i, j int) {
	a, b := p.channels[i], p.channels[j]
	p.channels[i], p.channels[j] = b, a
	b.places[p.place], a.places[p.place] = i, j
}

// Push adds a channel.
func (p *pile) Push(c any) {
	c.(*channel).places[p.place] = len(p.channels)
	p.channels = append(p.channels, c.(*channel))
}

// Pop removes the last channel.
func (p *pile) Pop() any {
	last := len(p.channels) - 1
	c := p.channels[last]
	p.channels[last] = nil
	p.channels = p.channels[:last]
	return c
}
