package doctor

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
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/request"
	"github.com/chatguard/chatguard/internal/systemd"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/twitchsignin"
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
	if len(d.cfg.Twitch.Channels) == 0 {
		return list // a server may hold messages itself
	}
	for _, name := range d.holdingLimits() {
		list = append(list, noteFinding("limit %q: a bot can't hold messages, so the delay of a leaky-bucket has no effect: "+
			"a message either fits and stays, or doesn't fit and is penalised", name))
	}
	return list
}

// checkMemory reports how many users can be remembered at once, for the channel whose policy needs
// most memory per user.
func (d *Doctor) checkMemory(context.Context) []Finding {
	users := int64(math.MaxInt64)
	table := min(d.cfg.MemoryPerTable, config.Size(app.UsersMemoryOf(d.cfg)))
	for _, p := range d.policies() {
		capacity, err := p.Capacity(int64(table))
		if err != nil {
			return []Finding{problemFrom(err)}
		}
		if users = min(users, capacity.Users); capacity.Everywhere > 0 {
			users = min(users, capacity.Everywhere)
		}
	}
	return []Finding{okFinding("%s for the users of a channel: about %s at once; %s in all for chatguard, half of it for users",
		table, formatAbout(users), app.MemoryOf(d.cfg))}
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

// policies returns the configuration's policies: the default policy and those of single channels.
func (d *Doctor) policies() []chatguard.Policy {
	all := []chatguard.Policy{d.cfg.Policy}
	for _, name := range slices.Sorted(maps.Keys(d.cfg.Channels)) {
		all = append(all, d.cfg.Channels[name])
	}
	return all
}

// holdingLimits returns the names of limits that are configured to hold messages, which Twitch
// doesn't allow.
func (d *Doctor) holdingLimits() (names []string) {
	for _, p := range d.policies() {
		for _, l := range p.Limits {
			if l.Algorithm == chatguard.LeakyBucket && !slices.Contains(names, l.Name) {
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

// checkProcess asks the process that owns the database for its problems. Another command may own
// the database, too; it doesn't answer.
func (d *Doctor) checkProcess(ctx context.Context) (list []Finding) {
	if d.owner == nil || d.owner.User != "" {
		return nil // checkDatabase has said it
	}
	s, err := request.AskStatus(ctx, d.owner, patience)
	switch { // checkDatabase has the fix
	case persist.IsDiskFull(err):
		err = errors.New("a question needs a file, and the disk is full")
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("its database is gone")
	}
	if err != nil {
		return []Finding{noteFinding("not asked for its problems: %v", err)}
	}
	for _, text := range s.Problems {
		list = append(list, problem("correct that; `chatguard status` shows whether it is over", "the running chatguard says: %s", text))
	}
	if len(list) == 0 {
		list = append(list, okFinding("the running chatguard says that everything works"))
	}
	return list
}

// checkDatabase checks whether the database is intact and can be opened, and which process uses it.
func (d *Doctor) checkDatabase(ctx context.Context) (list []Finding) {
	path := d.cfg.Database
	if d.owner != nil && d.owner.User != "" {
		return []Finding{problemFrom(d.owner)}
	}
	if d.hidden != nil {
		return []Finding{problemFrom(d.hidden)}
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		path = linkedFile(path)
		if err := persist.CheckMissing(path); err != nil {
			return []Finding{problemFrom(err)}
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return []Finding{problem("create that folder, or set another database", "%s can't be created: its folder doesn't exist", path)}
		}
		if err := tryFolder(path); err != nil {
			return []Finding{problem(folderFix(err), "%s can't be created: %v", path, err)}
		}
		return []Finding{noteFinding("%s doesn't exist yet: `chatguard run` creates it", path)}
	case err != nil:
		return []Finding{problem("run this as the user that chatguard runs as, or set another database", "%s can't be checked: %v", path, reasonOf(err))}
	case !info.Mode().IsRegular():
		return []Finding{problem("set another database", "%s is not a file", path)}
	}
	outdated, err := persist.Check(ctx, path)
	switch {
	case ctx.Err() != nil:
		return []Finding{noteFinding("%s is too large to be checked completely within %.0f s", path, patience.Seconds())}
	case errors.Is(err, persist.ErrUnfinished):
		d.unfinished = true
		return []Finding{noteFinding("%s can't be checked yet: %v; `chatguard run` undoes that", path, err)}
	case err != nil:
		return []Finding{problemFrom(err)}
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return []Finding{problem("make the file and its folder writable for this user, or set another database", "%s can't be written by this user", path)}
	}
	if err := file.Close(); err != nil {
		return []Finding{problemFrom(err)}
	}
	if err := tryFolder(path); err != nil {
		return []Finding{problem(folderFix(err), "%s can't be written: SQLite keeps other files beside it, and %v", path, err)}
	}
	for _, check := range []func(string) error{persist.CheckMode, persist.CheckFolder} {
		if err := check(path); err != nil {
			list = append(list, problemFrom(err))
		}
	}
	if d.owner == nil { // otherwise that process may be writing them
		for _, name := range persist.Abandoned(path) {
			list = append(list, noteFinding("%s is unfinished, and left by a process that was killed: delete it, or run chatguard as the owner of its folder, which does", name))
		}
	}
	if outdated {
		list = append(list, noteFinding("%s is from an older version: `chatguard run` keeps a copy and upgrades it", path))
	}
	usedBy := "not in use"
	switch {
	case d.owner != nil && d.owner.PID == 0:
		usedBy = "in use by another process"
	case d.owner != nil:
		usedBy = fmt.Sprintf("in use by process %d", d.owner.PID)
	}
	return append(list, okFinding("%s, %s", path, usedBy))
}

// linkedFile returns the file to which a symbolic link leads, which may be missing, or else path.
func linkedFile(path string) string {
	target, err := os.Readlink(path)
	switch {
	case err != nil:
		return path
	case filepath.IsAbs(target):
		return target
	}
	return filepath.Join(filepath.Dir(path), target)
}

// folderFix returns what to do if no file can be created in a folder, or none can be written.
func folderFix(err error) string {
	if persist.IsDiskFull(err) {
		return "free some space"
	}
	return "make the folder writable for this user, or set another database"
}

// tryFolder creates and deletes a file in the database's folder.
func tryFolder(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, filepath.Base(path)+".*.doctor")
	if err != nil {
		return fmt.Errorf("its folder %s can't be written (%w)", folder, reasonOf(err))
	}
	_, err = file.Write(make([]byte, triedBytes)) // fails on a full disk
	if err = errors.Join(err, file.Close(), os.Remove(file.Name())); err != nil {
		return fmt.Errorf("no file can be written in its folder %s (%w)", folder, reasonOf(err))
	}
	return nil
}

// triedBytes is how much tryFolder writes.
const triedBytes = 64 << 10

// reasonOf returns why a file can't be used, without its name.
func reasonOf(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// checkZones reports the local time in each zone of the daily limits, and when the day ends.
func (d *Doctor) checkZones(context.Context) (list []Finding) {
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
			list = append(list, problem("set an IANA name such as Europe/Berlin", "%v", err))
			continue
		}
		now := d.Now().Unix()
		const people = "Mon 2006-01-02 15:04 MST"
		list = append(list, okFinding("%s: it is %s there, and the day ends at %s", one.zone, calendar.Local(now).Format(people),
			calendar.Local(calendar.DayOf(now).End).Format(people)))
	}
	return list
}

// checkDashboard checks whether the dashboard's address is free, or in use by the dashboard itself.
func (d *Doctor) checkDashboard(ctx context.Context) []Finding {
	list := []Finding{d.checkAddress(ctx)}
	if app.UntrustedProxy(d.cfg.Web) {
		list = append(list, problem(app.UntrustedProxyFix, "%s", app.UntrustedProxyProblem))
	}
	return append(list, d.checkSignIn()...)
}

// checkSignIn checks whether people and viewers can sign in with Twitch, if that is switched on.
func (d *Doctor) checkSignIn() (list []Finding) {
	if d.cfg.Web.TwitchSignIn {
		list = append(list, d.signInFinding("people", "nobody", app.SignInObstacle(d.cfg)))
	}
	if d.cfg.Web.ViewerPage {
		list = append(list, d.signInFinding("viewers", "no viewer", app.ViewerObstacle(d.cfg)))
	}
	return list
}

// signInFinding says who can sign in with Twitch. It begins with who if they can, or with nobody if
// they can't.
func (d *Doctor) signInFinding(who, nobody string, obstacle *twitchsignin.Obstacle) Finding {
	redirect := app.SignInRedirect(d.cfg)
	switch {
	case obstacle != nil && d.isElsewhere() && d.cfg.Twitch.ClientSecret == "":
		return noteFinding("the sign-in with Twitch isn't checked: chatguard may have a client secret from another environment")
	case obstacle != nil:
		return problem(obstacle.Fix, "%s can sign in with Twitch: %s", nobody, obstacle.Problem)
	case redirect == "":
		return okFinding("%s sign in with Twitch by a code, at this machine only", who)
	}
	return okFinding("%s sign in with Twitch; %s must be an OAuth Redirect URL of your Twitch application", who, redirect)
}

func (d *Doctor) checkAddress(ctx context.Context) Finding {
	if err := d.cfg.CheckServed(); err != nil && !d.isElsewhere() {
		// A running process may have a password from another environment.
		return problemFrom(err)
	}
	s := app.Site(d.cfg.Web)
	listener, err := s.Open()
	switch {
	case err == nil && d.owner != nil:
		defer listener.Close()
		return okFinding("%s is free, and the process that uses the database listens elsewhere", s.Listen)
	case err == nil:
		defer listener.Close()
		return okFinding("%s is free", s.Listen)
	case !errors.Is(err, access.ErrInUse):
		return problem("set listen, tls_cert and tls_key in [web] to what this machine has", "%v", err)
	case d.owner != nil && answersAsChatguard(ctx, s):
		return okFinding("%s is the dashboard of the running chatguard", s.Listen)
	}
	if unit := systemd.SocketUnit(ctx, s.Listen); unit != "" {
		return okFinding("systemd listens at %s, by %s, and passes that to chatguard's service", s.Listen, unit)
	}
	if d.hidden != nil {
		return noteFinding("%s is in use, perhaps by the chatguard that uses the database: run this as %s", s.Listen, d.hidden.Users())
	}
	return problemFrom(err)
}

// answersAsChatguard reports whether a dashboard listens at the site's address.
func answersAsChatguard(ctx context.Context, s access.Site) bool {
	s.PublicURL = nil // ask the listening address, not the proxy
	address, _, _ := strings.Cut(s.Link("", ""), "#")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"healthz", nil)
	if err != nil {
		return false
	}
	// The certificate isn't verified, because nothing secret is sent, and the certificate is for
	// the name that people use.
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
