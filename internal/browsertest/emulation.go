package browsertest

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Prefer lets the page believe that its reader prefers something: {"prefers-color-scheme": "dark"}.
func (w *Window) Prefer(features map[string]string) {
	w.Helper()
	var params emulation.SetEmulatedMediaParams
	for name, value := range features {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	w.Must(call(emulation.SetEmulatedMedia, params))
}

// keepFocus lets the page believe that its window is the one in front, whatever windows of other tests open and close beside it.
func (w *Window) keepFocus() {
	w.Helper()
	w.Must(call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
}

// call is a command of the debugger's protocol, as a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}
