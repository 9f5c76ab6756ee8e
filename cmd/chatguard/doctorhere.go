package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/web"
)

// configuration looks for what is right in itself, and still can't be done or means nothing.
func (d *doctor) configuration(context.Context) (list []finding) {
	if err := readyToRun(d.cfg); err != nil {
		list = append(list, wrongBy(err))
	} else {
		list = append(list, fine("%s: %ss in %s", d.cfg.Path, d.cfg.Policy.Mode, channelNames(slices.Concat(d.cfg.Twitch.Channels, d.cfg.Check.Channels))))
	}
	_, strangers := unlisted(d.cfg)
	for _, name := range strangers {
		list = append(list, noted("[channel.%s] is for a channel that isn't in twitch.channels, and so isn't moderated, unless a server asks about it", name))
	}
	if len(d.cfg.Twitch.Channels) == 0 {
		return list // a server can hold messages
	}
	for _, name := range d.holding() {
		list = append(list, noted("limit %q: a bot can't hold messages, so the delay of a leaky-bucket has no effect: "+
			"a message has a place and stays, or has none and is penalised", name))
	}
	return list
}

// memory says how many users are remembered at once: of the channel whose policy keeps most of each.
func (d *doctor) memory(context.Context) []finding {
	users := int64(math.MaxInt64)
	for _, p := range d.policies() {
		capacity, err := p.Capacity(int64(d.cfg.MemoryPerTable))
		if err != nil {
			return []finding{wrongBy(err)}
		}
		if users = min(users, capacity.Users); capacity.Everywhere > 0 {
			users = min(users, capacity.Everywhere)
		}
	}
	return []finding{fine("%s for the users of a channel: about %s at once", d.cfg.MemoryPerTable, about(users))}
}

// about is a number of users in a few figures.
func about(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f million", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%d,%d00", n/1000, n%1000/100)
	}
	return fmt.Sprint(n)
}

// policies are those of the configuration: of all channels, and of single ones.
func (d *doctor) policies() []chatguard.Policy {
	all := []chatguard.Policy{d.cfg.Policy}
	for _, name := range slices.Sorted(maps.Keys(d.cfg.Channels)) {
		all = append(all, d.cfg.Channels[name])
	}
	return all
}

// holding are the names of the limits that would hold messages where that can be done.
func (d *doctor) holding() (names []string) {
	for _, p := range d.policies() {
		for _, l := range p.Limits {
			if l.Algorithm == chatguard.LeakyBucket && !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return names
}

// ofClients are what examples/check has in the environment of whoever asks chatguard.
var ofClients = []string{"CHATGUARD_TOKEN", "CHATGUARD_URL"}

// environment looks for variables that look like the configuration's and mean nothing.
func (d *doctor) environment(context.Context) (list []finding) {
	var known, set []string
	_, err := config.Parse(d.cfg.Path, nil, func(name string) (string, bool) {
		known = append(known, name)
		return "", false
	})
	if err != nil {
		return []finding{wrongBy(err)}
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		switch {
		case !strings.HasPrefix(name, "CHATGUARD_"):
		case slices.Contains(known, name):
			set = append(set, name)
		case slices.Contains(ofClients, name):
		default:
			list = append(list, noted("%s is set, but belongs to no key, and so does nothing", printable(name)))
		}
	}
	slices.Sort(set)
	return append(list, fine("over the file: %s", cmp.Or(strings.Join(set, ", "), "nothing")))
}

// database looks whether the database is whole and can be opened, and by whom it is used.
func (d *doctor) database(ctx context.Context) (list []finding) {
	path := d.cfg.Database
	if d.owner != nil && d.owner.User != "" {
		return []finding{wrongBy(d.owner)}
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return []finding{wrong("make that folder, or set another database", "%s can't be made: its folder doesn't exist", path)}
		}
		if err := tryFolder(path); err != nil {
			return []finding{wrong(folderMend, "%s can't be made: %v", path, err)}
		}
		return []finding{noted("%s doesn't exist yet: `chatguard run` makes it", path)}
	case err != nil:
		return []finding{wrong("run this as the user that chatguard runs as, or set another database", "%s can't be looked at: %v", path, reasonOf(err))}
	case !info.Mode().IsRegular():
		return []finding{wrong("set another database", "%s is no file", path)}
	}
	outdated, err := persist.Check(ctx, path)
	switch {
	case ctx.Err() != nil:
		return []finding{noted("%s is too large for all of it to be looked at within %.0f s", path, doctorPatience.Seconds())}
	case err != nil:
		return []finding{wrongBy(err)}
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return []finding{wrong("make the file and its folder writable for this user, or set another database", "%s can't be written by this user", path)}
	}
	if err := file.Close(); err != nil {
		return []finding{wrongBy(err)}
	}
	if err := tryFolder(path); err != nil {
		return []finding{wrong(folderMend, "%s can't be written: SQLite keeps other files beside it, and %v", path, err)}
	}
	if err := persist.CheckMode(path); err != nil {
		list = append(list, wrongBy(err))
	}
	if outdated {
		list = append(list, noted("%s is of an older version: `chatguard run` keeps a copy and brings it up to date", path))
	}
	usedBy := "which nobody uses now"
	switch {
	case d.owner != nil && d.owner.PID == 0:
		usedBy = "in use by another process"
	case d.owner != nil:
		usedBy = fmt.Sprintf("in use by process %d", d.owner.PID)
	}
	return append(list, fine("%s, %s", path, usedBy))
}

// folderMend is what to do about a folder in which no file can be made.
const folderMend = "make the folder writable for this user, or set another database"

// tryFolder makes a file in the folder of a database, and deletes it.
func tryFolder(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, filepath.Base(path)+".*.doctor")
	if err != nil {
		return fmt.Errorf("its folder %s takes no file (%w)", folder, reasonOf(err))
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// reasonOf is why a file can't be used, without its name.
func reasonOf(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// zones says what time it is where the days of limits end, and when they do.
func (d *doctor) zones(context.Context) (list []finding) {
	type day struct{ zone, resetAt string }
	var seen []day
	for _, p := range d.policies() {
		for _, l := range p.Limits {
			if one := (day{cmp.Or(l.Timezone, p.Timezone), l.ResetAt}); l.Algorithm == chatguard.DailyWindow && !slices.Contains(seen, one) {
				seen = append(seen, one)
			}
		}
	}
	if len(seen) == 0 {
		seen = []day{{zone: d.cfg.Timezone}}
	}
	for _, one := range seen {
		calendar, err := limits.NewCalendar(one.zone, one.resetAt)
		if err != nil {
			list = append(list, wrong("set an IANA name such as Europe/Berlin", "%v", err))
			continue
		}
		now := d.now().Unix()
		const people = "Mon 2006-01-02 15:04 MST"
		list = append(list, fine("%s: it is %s there, and the day ends at %s", one.zone, calendar.Local(now).Format(people),
			calendar.Local(calendar.DayOf(now).End).Format(people)))
	}
	return list
}

// dashboard looks whether its address is free, or the dashboard's already.
func (d *doctor) dashboard(ctx context.Context) []finding {
	list := []finding{d.address(ctx)}
	if untrustedProxy(d.cfg.Web) {
		list = append(list, wrong(untrustedProxyFix, "%s", untrustedProxyProblem))
	}
	return list
}

func (d *doctor) address(ctx context.Context) finding {
	if err := d.cfg.CheckServed(); err != nil && d.owner == nil { // the process that runs has a password of its own
		return wrongBy(err)
	}
	s := site(d.cfg.Web)
	listener, err := s.Open()
	switch {
	case err == nil && d.owner != nil:
		defer listener.Close()
		return fine("%s is free, and the process that uses the database listens elsewhere", s.Listen)
	case err == nil:
		defer listener.Close()
		return fine("%s is free", s.Listen)
	case !errors.Is(err, web.ErrInUse):
		return wrong("set listen, tls_cert and tls_key in [web] to what this machine has", "%v", err)
	case d.owner != nil && answersAsChatguard(ctx, s):
		return fine("%s is the dashboard of the chatguard that runs", s.Listen)
	}
	return wrongBy(err)
}

// answersAsChatguard reports whether a dashboard listens at the site's address.
func answersAsChatguard(ctx context.Context, s web.Site) bool {
	s.PublicURL = nil // the address itself is asked, not the proxy before it
	address, _, _ := strings.Cut(s.Link("", ""), "#")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"healthz", nil)
	if err != nil {
		return false
	}
	// Nothing secret is said, and the certificate is for the name that people use.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var health struct{ Status string }
	err = json.NewDecoder(io.LimitReader(answer.Body, 1<<10)).Decode(&health)
	return err == nil && health.Status == "ok"
}
