package limits

import (
	"maps"
	"slices"
)

// Own is a user's override. It takes precedence over the numbers of the user's roles.
type Own struct {
	Exemption Exemption
	// ExemptUntil is when the exemption ends, in nanoseconds since the Unix epoch; 0 means never.
	ExemptUntil int64
	// Timezone is the IANA name of the zone of the user's days, weeks and months; empty means the
	// limits' zone.
	Timezone string
	Numbers  map[string]Numbers // by limit name
}

// Exemption says whether a user is judged at all.
type Exemption uint8

// The kinds of exemption.
const (
	// ExemptByRole follows the user's roles, unless the user has their own numbers.
	ExemptByRole Exemption = iota
	Exempt
	NotExempt
)

// IsZero reports whether the override is empty.
func (o Own) IsZero() bool {
	return o.Exemption == ExemptByRole && o.Timezone == "" && len(o.Numbers) == 0
}

// activePart returns the part of the override that is in force at that time, without an exemption
// that has ended.
func (o Own) activePart(at int64) Own {
	if o.ExemptUntil != 0 && o.ExemptUntil <= at {
		o.Exemption, o.ExemptUntil = ExemptByRole, 0
	}
	return o
}

// IsExempt reports whether the user is exempt at that time; byRole says whether their roles or the
// message's kind exempt them.
func (o *Own) IsExempt(byRole bool, at int64) bool {
	switch o.activePart(at).Exemption {
	case Exempt:
		return true
	case NotExempt:
		return false
	}
	return byRole && len(o.Numbers) == 0
}

// personal is the record of a user with an override, grants or pardons. Few users have one.
type personal struct {
	Own
	grants   []grant
	pardoned []span // spans of offences, the latest pardon last
	// rules are the limits as they apply to this user with these roles: see Set.choice. They are
	// nil before they are first needed.
	rules []Rule
	roles uint64
	// zoned are the rules in the zone of the user's last message, if that matters; otherwise nil.
	zoned []Rule
	zone  *Timezone
}

// copy returns a copy whose grants can be used without effect on p.
func (p *personal) copy() *personal {
	return &personal{Own: p.Own, grants: slices.Clone(p.grants), pardoned: p.pardoned}
}

// isOver reports whether the record has no effect any more at that time.
func (p *personal) isOver(at int64) bool {
	return p.activePart(at).IsZero() && !slices.ContainsFunc(p.grants, func(g grant) bool { return g.until > at })
}

// rulesFor returns the limits as they apply to this user.
func (p *personal) rulesFor(s *Set, roles uint64) []Rule {
	if roles = s.choice(roles); p.rules != nil && p.roles == roles {
		return p.rules
	}
	p.rules, p.roles, p.zoned = slices.Clone(s.rulesFor(roles)), roles, nil
	for i := range p.rules {
		if own, err := p.rule(s, i, p.rules[i]); err == nil {
			// A policy change may have made the user's own numbers invalid. The numbers of the
			// user's roles apply then, until the policy changes again.
			p.rules[i] = own
		}
	}
	return p.rules
}

// rulesIn returns the limits as they apply to this user in a zone. The zone of the override takes
// precedence.
func (p *personal) rulesIn(s *Set, zone *Timezone, roles uint64) []Rule {
	rules := p.rulesFor(s, roles)
	if zone == nil || p.Timezone != "" || s.zoned == nil {
		return rules
	}
	if p.zoned == nil || p.zone != zone {
		p.zoned, p.zone = rulesInZone(rules, zone), zone
	}
	return p.zoned
}

// rule returns the user's version of limit i. r is the version for the user's roles.
func (p *personal) rule(s *Set, i int, r Rule) (Rule, error) {
	params := s.limits[i].Params
	if numbers, ok := p.Numbers[params.Name]; ok {
		own, err := s.ownRule(i, numbers)
		if err != nil {
			return r, err
		}
		own.calendar, own.start, own.end = r.calendar, r.start, r.end
		r = own
	}
	if p.Timezone != "" && r.calendar != nil {
		calendar, err := params.calendarIn(p.Timezone)
		if err != nil {
			return r, err
		}
		r.calendar = calendar
	}
	return r, nil
}

// ownRule returns limit i with a user's own numbers, without its place in a row. The additional
// room of a set with longer logs doesn't count, because other users' logs decide about that.
func (s *Set) ownRule(i int, numbers Numbers) (Rule, error) {
	params, usual := s.limits[i].Params, &s.origin().rules[i]
	own, err := compile(params.withNumbers(numbers))
	if err != nil {
		return own, err
	}
	if room := usual.end - usual.start; own.words > room {
		return own, InLimit(params.Name, MistakeIn("messages", numbers.Messages,
			"each user's log has room for %d messages: to allow one user more, give a role or the limit itself that many", room-1))
	}
	return own, nil
}

// check returns an error if the override isn't valid for the set.
func (o *Own) check(s *Set) error {
	for _, name := range slices.Sorted(maps.Keys(o.Numbers)) {
		if s.indexOf(name) < 0 {
			return MistakeIn("limits", name, "there is no limit %q", name)
		}
	}
	if o.Timezone != "" {
		if _, err := NewCalendar(o.Timezone, ""); err != nil {
			return err
		}
	}
	p := personal{Own: *o}
	for i := range s.rules {
		if _, err := p.rule(s, i, s.rules[i]); err != nil {
			return err
		}
	}
	return nil
}

// SetOwn sets the user's override, as of the time at, and keeps their usage. The error names the
// invalid part. It is ErrClosed if the table is closed.
func (t *Table) SetOwn(user string, own Own, at int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := own.check(t.set); err != nil {
		return err
	}
	return t.edit(user, at, func(a *account) { a.setOwn(own, at) })
}

// setOwn is Table.SetOwn for one row and a valid override.
func (a *account) setOwn(own Own, at int64) {
	before, rules := slices.Clone(a.row), a.spentRules()
	p := a.personalRecord()
	p.Own, p.rules = own.clone(), nil
	clear(a.row[a.set.head:])
	conversionOf(a.set, a.set, nil, at).convert(a.row, a.spentRules(), before, rules)
}

// OwnOf returns the user's override at that time.
func (t *Table) OwnOf(user string, at int64) Own {
	var p place
	if !t.lock(user, &p) {
		return Own{}
	}
	defer p.shard.mu.Unlock()
	if p.find(); !p.found || !hasFlag(p.shard.row(p.slot), personalFlag) {
		return Own{}
	}
	return p.shard.personal[p.key].activePart(at).clone()
}

// Owns returns all users' overrides at that time, by user ID. It locks one shard at a time, so a
// decision waits for only part of the rows.
func (t *Table) Owns(at int64) map[string]Own {
	owns := map[string]Own{}
	if !t.HasOwn() {
		return owns
	}
	t.forEach(func(s *shard) {
		for key, p := range s.personal {
			if own := p.activePart(at); !own.IsZero() { // a record may have only grants or pardons
				owns[s.names.id(key)] = own.clone()
			}
		}
	})
	return owns
}

func (o Own) clone() Own {
	o.Numbers = maps.Clone(o.Numbers)
	return o
}

// personalRecord returns the personal record of the account's user, and creates it if it is
// missing.
func (a *account) personalRecord() *personal {
	if a.personal == nil {
		a.personal = &personal{}
		a.row[wordMeta] |= personalFlag
	}
	return a.personal
}

// spentRules returns the rules under which the account's state was spent.
func (a *account) spentRules() []Rule { return a.set.rulesOf(a.personal, nil, a.set.rolesOf(a.row)) }

// rulesOf returns the rules under which a row's state was spent.
func (s *shard) rulesOf(row []uint64) []Rule {
	if hasFlag(row, personalFlag) {
		return s.personal[row[wordUser]].rulesFor(s.set, s.set.rolesOf(row))
	}
	return s.set.rulesFor(s.set.rolesOf(row))
}

// personal returns the personal record of the place's user, or nil if there is none. The row must
// have been looked up.
func (p *place) personal() *personal {
	if p.found && hasFlag(p.shard.row(p.slot), personalFlag) {
		return p.shard.personal[p.key]
	}
	return nil
}

// rulesOf returns the limits as they apply to a user in a zone with the personal record own, which
// may be nil.
func (s *Set) rulesOf(own *personal, zone *Timezone, roles uint64) []Rule {
	if own != nil {
		return own.rulesIn(s, zone, roles)
	}
	return s.rulesIn(zone, roles)
}
