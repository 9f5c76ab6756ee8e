package dashboard

import (
	"cmp"
	"slices"

	"github.com/chatguard/chatguard/internal/web/live"
)

// channels returns the channels to show.
func (d *Dashboard) channels() []live.Channel {
	var list []live.Channel
	for _, c := range d.listChannels() {
		list = append(list, live.Channel{ID: c.ID, Login: cmp.Or(c.Name, c.ID)})
	}
	return list
}

func (d *Dashboard) listChannels() (list []Channel) {
	if d.options.Channels != nil {
		return d.options.Channels()
	}
	ids := slices.Sorted(slices.Values(slices.Concat(d.web.Heard(), d.host.Changed)))
	for _, id := range slices.Compact(ids) {
		list = append(list, Channel{ID: id})
	}
	return list
}
