package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
)

// printRooms says what is done in the channels that the configuration names for servers, and where these ask. It says nothing where there are none.
func (a *app) printRooms(out io.Writer) error {
	in := map[chatguard.Mode][]string{}
	for _, id := range a.config.Check.Channels {
		mode := a.guard.Policy(id).Mode
		in[mode] = append(in[mode], id)
	}
	var does []string
	for _, mode := range slices.Backward(slices.Sorted(maps.Keys(in))) {
		text := fmt.Sprintf("%ss in %s", mode, strings.Join(in[mode], ", "))
		if mode == chatguard.Observe {
			text += ` (mode = "enforce" throttles)`
		}
		does = append(does, text)
	}
	if len(does) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "Check: %s; servers ask at %sapi/v1/check\n", strings.Join(does, ", "), site(a.config.Web).Address(a.listener.Addr().String()))
	return err
}
