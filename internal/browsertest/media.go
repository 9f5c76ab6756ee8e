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
	w.Must(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, params)
		return err
	}))
}
