package app

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/host"
)

// directory maps between the names of channels, which the configuration contains, and their IDs,
// which messages contain. It applies a channel's own policy once its ID is known. It is safe for
// concurrent use. Create one with newDirectory.
type directory struct {
	loaded atomic.Pointer[config.Config] // the last loaded configuration
	host   *host.Host
	log    *slog.Logger

	mu   sync.Mutex
	byID map[string]string // names of channels
	// asked are the IDs of the first rooms that servers have asked about since the start, at most
	// mostRooms.
	asked []string
}

func newDirectory(c config.Config, h *host.Host, log *slog.Logger) *directory {
	d := &directory{host: h, log: log, byID: map[string]string{}}
	d.loaded.Store(&c)
	return d
}

// config returns the last loaded configuration.
func (d *directory) config() *config.Config { return d.loaded.Load() }

// add records a channel and reports whether it is new. Another channel that had the login loses it.
func (d *directory) add(login, id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byID[id] == login {
		return false
	}
	if _, isRoom := roomName(id); !isRoom {
		delete(d.byID, d.idOf(login))
	}
	d.byID[id] = login
	return true
}

// id returns the ID of the Twitch channel that has had a login, or "" if there is none.
func (d *directory) id(login string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.idOf(login)
}

func (d *directory) idOf(login string) string {
	for id, known := range d.byID {
		if _, isRoom := roomName(id); known == login && !isRoom {
			return id
		}
	}
	return ""
}

// accepts reports whether the Twitch channel of a login may have an ID. It may if the channel has
// had this ID or none, or if the configuration has a table for this ID.
func (d *directory) accepts(login, id string) bool {
	known := d.id(login)
	_, isMeant := d.config().Channels[id]
	return known == "" || known == id || isMeant
}

// login returns the login of a channel, or "" if it is unknown.
func (d *directory) login(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byID[id]
}

// ids returns the IDs of all known channels.
func (d *directory) ids() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.byID))
}

// learn records a channel here and, for the next start, in the database. It reports whether the
// channel is new.
func (d *directory) learn(login, id string) bool {
	if !d.add(login, id) {
		return false
	}
	d.host.Store.NoteChannel(id, login)
	return true
}

// name returns a channel's login or a room's name, or its ID if that is unknown.
func (d *directory) name(id string) string {
	return cmp.Or(d.login(id), strings.TrimPrefix(id, RoomSpace))
}
