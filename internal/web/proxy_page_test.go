package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
)

// behindProxy runs a dashboard that people reach below /chat/guard/ of a real reverse proxy.
func behindProxy(t *testing.T, serve func(http.Handler) *httptest.Server) (d *dashboard, proxy *httptest.Server) {
	t.Helper()
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at("http://" + d.address))
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}}
	mux := http.NewServeMux()
	mux.Handle("/chat/guard/", http.StripPrefix("/chat/guard", forward))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/favicon.ico" { // a browser looks for it by itself
			t.Errorf("the page asks for %s, outside of where it is mounted", r.URL.Path)
		}
		http.NotFound(w, r)
	})
	proxy = serve(mux)
	t.Cleanup(proxy.Close)
	d = dash(t, func(o *Options) {
		o.Site.PublicURL = at(proxy.URL + "/chat/guard")
		o.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	return d, proxy
}

func TestTheDashboardWorksBelowAPathOfAProxy(t *testing.T) {
	d, proxy := behindProxy(t, httptest.NewServer)
	w := &window{browsertest.Open(t, 1400, 900), d}
	w.Must(chromedp.Navigate(d.opts.Site.Link(d.address, "good-code")))
	w.See(`document.querySelector(".figures dd")?.textContent !== "–"`)
	d.say(spammer, 4)
	w.See(says(spammer.DisplayName)) // which the live feed tells
	for _, page := range []string{"limits", "people", "journal", "audit", "now"} {
		w.goTo(page)
	}
	w.See(says(spammer.DisplayName))
	if at := browsertest.Eval[string](w.Window, "location.href"); !strings.HasPrefix(at, proxy.URL+"/chat/guard/") {
		t.Errorf("the page is at %s", at)
	}
	w.Must(chromedp.Reload())
	w.See(says(spammer.DisplayName)) // still signed in: the cookie is sent below the path
}

func TestTLSOfAProxyMakesCookiesSecure(t *testing.T) {
	d, proxy := behindProxy(t, httptest.NewTLSServer)
	response, err := proxy.Client().Post(proxy.URL+"/chat/guard/api/v1/session", "application/json", strings.NewReader(`{"code":"good-code"}`))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if len(response.Cookies()) != 1 {
		t.Fatalf("signing in through the proxy: %s", response.Status)
	}
	if c := response.Cookies()[0]; !c.Secure || c.Path != "/chat/guard" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("cookie %v", c)
	}
	if link := d.opts.Site.Link("", "c"); link != proxy.URL+"/chat/guard/#signin=c" {
		t.Errorf("link %s", link)
	}
}
