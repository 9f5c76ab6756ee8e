package doctor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/limitinfo"
)

// checkConfiguration finds settings that are valid but can't work or have no effect.
func (d *Doctor) checkConfiguration(context.Context) (list []Finding) {
	if err := app.CheckReady(d.cfg); err != nil {
		list = append(list, problemFrom(err))
	} else {
		names := slices.Clone(d.cfg.Check.Channels) // as `chatguard run` prints them
		if len(d.cfg.Twitch.Channels) > 0 {
			names = slices.Concat([]string{channelNames(d.cfg.Twitch.Channels)}, names)
		}
		list = append(list, okFinding("%s: %ss in %s", d.cfg.Path, d.cfg.Policy.Mode, strings.Join(names, ", ")))
	}
	if err := d.cfg.CheckWebhooks(); err != nil && !d.isElsewhere() {
		// A running process may have addresses and secrets from another environment.
		list = append(list, problemFrom(err))
	}
	_, strangers := app.Unlisted(d.cfg)
	for _, name := range strangers {
		list = append(list, noteFinding("[channel.%s] is for a channel that isn't in twitch.channels: it has no effect unless a server asks about it", name))
	}
	if names := d.limitNames(func(l chatguard.Limit) bool { return inner.IsText(l.Per) }); len(names) > 0 && d.cfg.TextRetention == 0 {
		list = append(list, noteFinding(`limit %q: previews count no repeated text, because text_retention is "0s"; with "24h", they count that of the last 24 hours`, names[0]))
	}
	if len(d.cfg.Twitch.Channels) == 0 {
		return list // a server may hold messages itself
	}
	for _, name := range d.limitNames(func(l chatguard.Limit) bool { return l.Algorithm == chatguard.LeakyBucket }) {
		list = append(list, noteFinding("limit %q: a bot can't hold messages, so the delay of a leaky-bucket has no effect: "+
			"a message either fits and stays, or doesn't fit and is penalised", name))
	}
	return list
}

// checkMemory reports how many users, and texts of limits on repeated text, can be remembered at
// once, for the channel whose policy needs the most memory per user or text.
func (d *Doctor) checkMemory(context.Context) []Finding {
	users, texts := int64(math.MaxInt64), int64(math.MaxInt64)
	table := min(d.cfg.MemoryPerTable, config.Size(app.UsersMemoryOf(d.cfg)))
	for _, p := range d.cfg.Policies() {
		here, everywhere, err := limitinfo.Capacity(p, int64(table))
		if err != nil {
			return []Finding{problemFrom(err)}
		}
		if users = min(users, here); everywhere > 0 {
			users = min(users, everywhere)
		}
		fit, err := limitinfo.TextCapacity(p, int64(table))
		if err != nil {
			return []Finding{problemFrom(err)}
		}
		if fit > 0 {
			texts = min(texts, fit)
		}
	}
	list := []Finding{okFinding("%s for the users of a channel: about %s at once; %s in all for chatguard, half of it for users",
		table, formatAbout(users), app.MemoryOf(d.cfg))}
	if texts < math.MaxInt64 {
		list = append(list, okFinding("limits on repeated text: about %s texts of a channel at once", formatAbout(texts)))
	}
	return list
}

// formatAbout formats a number of users roughly, with few digits.
func formatAbout(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f million", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%d,%d00", n/1000, n%1000/100)
	}
	return fmt.Sprint(n)
}

// limitNames returns the names of the configuration's limits that a test selects.
func (d *Doctor) limitNames(selects func(chatguard.Limit) bool) (names []string) {
	for _, p := range d.cfg.Policies() {
		for _, l := range p.Limits {
			if selects(l) && !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

// checkEnvironment looks for variables that look like the configuration's but have no effect.
func (d *Doctor) checkEnvironment(context.Context) (list []Finding) {
	names := slices.Clone(d.Environment.Names)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	set, unknown := d.cfg.Variables(names)
	for _, v := range unknown {
		fix := ""
		if v.Near != "" {
			fix = ": did you mean " + v.Near + "?"
		}
		list = append(list, noteFinding("%s is set but isn't a known key, so it has no effect%s", hostile.Printable(v.Name), fix))
	}
	switch file := d.Environment; {
	case file.Err != nil:
		list = append(list, noteFinding("not seen: the variables of the service in %s (%v); to check with them, run this as root", file.Path, reasonOf(file.Err)))
	case file.Path != "":
		list = append(list, okFinding("the variables of the service in %s were used", file.Path))
	}
	return append(list, okFinding("variables that override the file: %s", cmp.Or(strings.Join(set, ", "), "nothing")))
}

// checkZones reports the local time in each zone of the daily windows, and when the day, week or
// month ends.
func (d *Doctor) checkZones(context.Context) (list []Finding) {
	type days struct{ zone, resetAt, period, firstDay string }
	var seen []days
	for _, p := range d.cfg.Policies() {
		for _, l := range p.Limits {
			if one := (days{cmp.Or(l.Timezone, p.Timezone), l.ResetAt, string(cmp.Or(l.Period, chatguard.PeriodDay)), l.FirstDay}); l.Algorithm == chatguard.DailyWindow && !slices.Contains(seen, one) {
				seen = append(seen, one)
			}
		}
	}
	if len(seen) == 0 {
		seen = []days{{zone: d.cfg.Timezone, period: "day"}}
	}
	for _, one := range seen {
		calendar, err := limits.NewCalendar(one.zone, one.resetAt)
		if err == nil {
			calendar, err = calendar.Divide(one.period, one.firstDay)
		}
		if err != nil {
			list = append(list, problem("set an IANA name such as Europe/Berlin", "%v", err))
			continue
		}
		now := d.Now().Unix()
		const people = "Mon 2006-01-02 15:04 MST"
		list = append(list, okFinding("%s: it is %s there, and the %s ends at %s", one.zone, calendar.Local(now).Format(people), one.period,
			calendar.Local(calendar.PeriodOf(now).End).Format(people)))
	}
	return list
}
