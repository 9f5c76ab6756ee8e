package twitchsignin

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/language"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	deviceCookie = "chatguard_device"
	// mostDevices is the maximum number of device codes that wait for a person. A further one ends
	// the oldest.
	mostDevices = 20
)

// devices are the sign-ins by device code in progress, by the secrets in the browsers' cookies.
type devices struct {
	mu    sync.Mutex
	flows map[string]*deviceFlow
}

// deviceFlow is a sign-in by device code.
type deviceFlow struct {
	twitch *person.Twitch
	login  *token.DeviceLogin
	code   token.DeviceCode
	next   time.Time // when Twitch may be asked again; guarded by devices.mu
	asking bool      // whether Twitch is being asked; guarded by devices.mu
}

// DeviceState is the state of a sign-in by device code.
type DeviceState string

// The states.
const (
	DeviceWaiting DeviceState = "waiting" // for the person to enter the code on Twitch
	DeviceDone    DeviceState = "done"    // the browser has a session now
)

// Device describes a sign-in by device code.
type Device struct {
	State DeviceState `json:"state"`
	// UserCode is the code to compare on Twitch, and Address the page that asks for it.
	UserCode string    `json:"user_code,omitempty"`
	Address  string    `json:"address,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	// Interval is the minimum time between two requests for the state, in seconds.
	Interval int `json:"interval,omitempty"`
}

func (f *deviceFlow) describe() Device {
	return Device{
		State: DeviceWaiting, UserCode: f.code.UserCode, Address: f.code.Address, Expires: f.code.Expires, Interval: int(f.code.Interval.Seconds()),
	}
}

// BeginDevice is POST /session/device: it gets a code from Twitch. Only this machine may ask.
func (s *SignIns) BeginDevice(w http.ResponseWriter, r *http.Request) error {
	tw, way := s.way()
	if way != ByDevice || !s.opts.Dashboard || !s.opts.Site.IsLocal(r) {
		return s.refuseDevice(r, &notOffered)
	}
	if f := s.take(s.begins, r); f != nil {
		return s.refuseDevice(r, f)
	}
	ctx, stop := context.WithTimeout(r.Context(), patience)
	defer stop()
	login := tw.Device(person.ModeratorScopes)
	code, err := login.Begin(ctx)
	if err != nil {
		return s.refuseDevice(r, failureOf(err))
	}
	flow := &deviceFlow{twitch: tw, login: login, code: code, next: s.opts.now().Add(code.Interval)}
	id := rand.Text()
	s.devices.add(id, flow, s.opts.now())
	s.setDevice(w, r, id, int(flow.code.Expires.Sub(s.opts.now()).Seconds()))
	return problem.WriteJSON(w, flow.describe())
}

// GetDevice is GET /session/device. It asks Twitch whether the person has entered the code, but not
// more often than Twitch wants. Once they have, it starts a session.
func (s *SignIns) GetDevice(w http.ResponseWriter, r *http.Request) error {
	if !s.opts.Site.IsLocal(r) {
		return s.refuseDevice(r, &notOffered)
	}
	cookie, err := r.Cookie(s.opts.Site.CookieName(r, deviceCookie))
	if err != nil {
		return s.refuseDevice(r, &foreign)
	}
	flow, due := s.devices.take(cookie.Value, s.opts.now())
	switch {
	case flow == nil:
		return s.refuseDevice(r, &foreign)
	case !due:
		return problem.WriteJSON(w, flow.describe())
	}
	session, f := s.pollDevice(r.Context(), cookie.Value, flow)
	switch {
	case f != nil:
		s.setDevice(w, r, "", -1)
		return s.refuseDevice(r, f)
	case session == "":
		return problem.WriteJSON(w, flow.describe())
	}
	s.setDevice(w, r, "", -1)
	s.signIn(w, r, session)
	return problem.WriteJSON(w, Device{State: DeviceDone})
}

// pollDevice asks Twitch about a code. The session is empty while nobody has entered the code. A
// failure of Twitch's that may be temporary changes nothing.
func (s *SignIns) pollDevice(ctx context.Context, id string, flow *deviceFlow) (session string, f *failure) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	pair, pending, err := flow.login.Poll(ctx, flow.code)
	if pending {
		s.devices.release(flow, s.opts.now())
		return "", nil
	}
	s.devices.remove(id)
	if err != nil {
		return "", failureOf(err)
	}
	return s.admit(ctx, flow.twitch.New(pair, person.ModeratorScopes))
}

// setDevice answers a request with the cookie of a device code.
func (s *SignIns) setDevice(w http.ResponseWriter, r *http.Request, id string, maxAge int) {
	http.SetCookie(w, s.opts.Site.Cookie(r, deviceCookie, id, maxAge, http.SameSiteStrictMode))
}

// refuseDevice counts and logs a failure, and returns it as a problem.
func (s *SignIns) refuseDevice(r *http.Request, f *failure) error {
	s.fail(r, f)
	p := problem.New(f.status, "%s. %s", f.title, language.Sentence(language.Sprintf(language.Of(r), string(f.text), f.args...)))
	if f.wait > 0 {
		p.After(f.wait)
	}
	return p
}

// add adds a sign-in. It drops those that have expired, and the oldest if there are too many.
func (d *devices) add(id string, flow *deviceFlow, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.flows, func(_ string, f *deviceFlow) bool { return !now.Before(f.code.Expires) })
	if len(d.flows) >= mostDevices {
		delete(d.flows, slices.MinFunc(slices.Collect(maps.Keys(d.flows)), func(a, b string) int {
			return cmp.Or(d.flows[a].code.Expires.Compare(d.flows[b].code.Expires), cmp.Compare(a, b))
		}))
	}
	d.flows[id] = flow
}

// take returns a sign-in, or nil. If due is true, the caller asks Twitch, and then calls release or
// remove. No other caller asks meanwhile.
func (d *devices) take(id string, now time.Time) (flow *deviceFlow, due bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	flow = d.flows[id]
	if flow == nil || flow.asking || now.Before(flow.next) {
		return flow, false
	}
	flow.asking = true
	return flow, true
}

// release records that Twitch has answered, so that take is due again after the interval.
func (d *devices) release(flow *deviceFlow, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	flow.asking, flow.next = false, now.Add(flow.code.Interval)
}

func (d *devices) remove(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.flows, id)
}
