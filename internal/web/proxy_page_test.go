//go:build browser

package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
)

func TestProxyPage_BelowPath(t *testing.T) {
	d, proxy := runBehindProxy(t, httptest.NewServer)
	w := &window{browsertest.Open(t, 1400, 900), d}
	w.Must(chromedp.Navigate(d.opts.Access.Site.Link(d.address, "good-code")))
	w.See(`document.querySelector(".figures dd")?.textContent !== "–"`)
	d.say(spammer, 4)
	w.See(hasText(spammer.DisplayName)) // through the live feed
	for _, page := range []string{"limits", "people", "journal", "audit", "now"} {
		w.goTo(page)
	}
	w.See(hasText(spammer.DisplayName))
	if at := browsertest.Eval[string](w.Window, "location.href"); !strings.HasPrefix(at, proxy.URL+"/chat/guard/") {
		t.Errorf("the page is at %s", at)
	}
	w.Must(chromedp.Reload())
	w.See(hasText(spammer.DisplayName)) // still signed in: the cookie covers the path
}

// TestProxyPage_NoSlash checks that the page works at the mount path without its slash, and that
// signing in there does.
func TestProxyPage_NoSlash(t *testing.T) {
	var d *dashboard
	to := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(parseURL("http://" + d.address))
		r.Out.Host = r.In.Host
	}}
	leaves := http.NewServeMux() // leaves the path as it is
	leaves.Handle("/guard", to)
	leaves.Handle("/guard/", to)
	removes := http.NewServeMux()
	removes.Handle("/guard", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/"
		to.ServeHTTP(w, r)
	}))
	removes.Handle("/guard/", http.StripPrefix("/guard", to))
	// The browser asks for the page's files there, until it moves to the slash.
	removes.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	w := browsertest.Open(t, 1400, 900)
	for name, handler := range map[string]http.Handler{"left": leaves, "removed": removes} {
		proxy := httptest.NewServer(handler)
		defer proxy.Close()
		d = dash(t, trustProxy(proxy.URL+"/guard"))
		w.Must(chromedp.Navigate(proxy.URL + "/guard#signin=good-code"))
		w.See(`/\d/.test(document.querySelector(".figures dd")?.textContent)`)
		if at := browsertest.Eval[string](w, "location.pathname"); at != "/guard/" {
			t.Errorf("%s: the page is at %s", name, at)
		}
	}
}
