package limits

// numberedRoles are the roles of usage that was stored when each role had a bit in place of a name.
// The first has the lowest bit. Every user has the role without a name.
var numberedRoles = [rolesInMeta]string{"first_timer", "", "subscriber", "vip", "moderator", "lead_moderator", "broadcaster"}

// namesOfBits returns the names of the roles with these bits.
func namesOfBits(bits uint64) (names []string) {
	for i, name := range numberedRoles {
		if bits>>i&1 != 0 && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// nameRoles returns the usage of a limit with the names of the roles in place of their bits.
func nameRoles(data []byte) ([]byte, error) {
	in := rowReader{data: data}
	in.text() // the calendar
	start := in.at
	names := namesOfBits(in.number(maxRoles))
	if in.bad {
		return nil, errStateBytes
	}
	named := NewRoleList(names, "").Of(names).append(append([]byte(nil), data[:start]...))
	return append(named, data[in.at:]...), nil
}

// numberedRoles reads the series and the roles of a row from before roles had names. It returns the
// roles that the list knows.
func (in *rowReader) numberedRoles(list *RoleList) (series uint8, roles Roles) {
	n := in.number(maxSeries<<rolesInMeta | maxRoles)
	if list != nil {
		roles = list.Everyone()
		for _, name := range namesOfBits(n & maxRoles) {
			roles = roles.With(name)
		}
	}
	return uint8(n >> rolesInMeta), roles
}
