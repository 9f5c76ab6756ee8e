package browsertest

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// Prefer emulates media features, such as {"prefers-color-scheme": "dark"}, and no others.
func (w *Window) Prefer(features map[string]string) {
	w.Helper()
	var params emulation.SetEmulatedMediaParams
	for name := range w.preferred {
		if _, stays := features[name]; !stays {
			params.Features = append(params.Features, &emulation.MediaFeature{Name: name}) // as the browser has it
		}
	}
	w.preferred = features
	for name, value := range features {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	w.Must(call(emulation.SetEmulatedMedia, params))
}

// Block makes requests for an address fail. The address may have wildcards, such as
// "*://*:*/app/*". An empty address ends that.
func (w *Window) Block(address string) {
	w.Helper()
	var params network.SetBlockedURLsParams
	if address != "" {
		params.URLPatterns = []*network.BlockPattern{{URLPattern: address, Block: true}}
	}
	w.Must(call(network.Enable, network.EnableParams{}), call(network.SetBlockedURLs, params))
}

// SetCookie gives the browser a cookie of the site at an address.
func (w *Window) SetCookie(address, name, value string) {
	w.Helper()
	w.Must(call(network.SetCookies, network.SetCookiesParams{Cookies: []*network.CookieParam{{Name: name, Value: value, URL: address, HTTPOnly: true}}}))
}

// SaveData turns the browser's data saver on or off, as its settings do. It is on in a new window,
// so that a page loads only what it shows.
func (w *Window) SaveData(on bool) {
	w.Helper()
	w.Must(call(emulation.SetDataSaverOverride, emulation.SetDataSaverOverrideParams{DataSaverEnabled: &on}))
}

// Transparent makes a picture of the window transparent where the page draws nothing, as in
// programs that show a page over something else.
func (w *Window) Transparent() {
	w.Helper()
	// An opacity of exactly 0 would be left out, which means 1.
	w.Must(call(emulation.SetDefaultBackgroundColorOverride, emulation.SetDefaultBackgroundColorOverrideParams{Color: &cdp.RGBA{A: 1e-6}}))
}

// SetTimezone sets the time zone of the person's machine.
func (w *Window) SetTimezone(zone string) {
	w.Helper()
	w.Must(call(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone}))
}

// keepFocus makes the page believe that its window is in front, whatever other tests' windows do.
func (w *Window) keepFocus() {
	w.Helper()
	w.Must(call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
}

// call turns a command of the debugger protocol into a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// ProcessorTime returns the processor time that the browser has used, for all windows.
func (w *Window) ProcessorTime() (used time.Duration) {
	w.Helper()
	info, err := cdp.Call(w.ctx, chromedp.FromContext(w.ctx).Browser, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		w.Fatal(err)
	}
	for _, process := range info.ProcessInfo {
		used += time.Duration(process.CPUTime * float64(time.Second))
	}
	return used
}
