package host

// Handle lets this module find the Host in a value that embeds the Handle, at any depth. A public
// type thus needs no exported method that returns a Host, and a type that embeds the public type has
// the same Host. Embed a Handle under an unexported alias, so that no field is exported. The zero
// value has no Host.
type Handle struct{ host *Host }

// NewHandle returns the Handle of a Host.
func NewHandle(h *Host) Handle { return Handle{h} }

func (h Handle) hostOf() *Host { return h.host }

// Of returns the Host of a value that embeds a Handle, or nil for any other value.
func Of(value any) *Host {
	if v, ok := value.(interface{ hostOf() *Host }); ok {
		return v.hostOf()
	}
	return nil
}
