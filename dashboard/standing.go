package dashboard

import (
	"cmp"
	"slices"

	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/web"
)

// channels are those shown, with what is laid over their policies.
func (d *Dashboard) channels() []web.Channel {
	var list []web.Channel
	for _, c := range d.named() {
		s := d.store.Controls.Switches(c.ID)
		list = append(list, web.Channel{ID: c.ID, Login: cmp.Or(c.Name, c.ID), PausedBy: s.PausedBy, RaidUntil: s.RaidUntil})
	}
	return list
}

func (d *Dashboard) named() (list []Channel) {
	if d.options.Channels != nil {
		return d.options.Channels()
	}
	ids := slices.Sorted(slices.Values(slices.Concat(d.web.Heard(), d.store.Changed())))
	for _, id := range slices.Compact(ids) {
		list = append(list, Channel{ID: id})
	}
	return list
}

// database is the state of the store as the page shows it.
func (d *Dashboard) database() web.Database {
	h := d.store.Health()
	if d.store.IsMemory() && h.State == persist.OK {
		return web.Database{State: web.DatabaseOff}
	}
	shown := web.Database{
		State: web.DatabaseOK, Detail: h.Problem, Since: h.Since, LastFlush: h.LastFlush, Lag: h.Lag,
		Queued: h.Waiting, Dropped: h.Dropped.Timeline + h.Dropped.Journal,
	}
	if h.State == persist.Failing {
		shown.State = web.DatabaseFailing
	}
	return shown
}
