package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"strings"
	"testing"
)

// runBehindProxy runs a dashboard behind a real reverse proxy, below /chat/guard/.
func runBehindProxy(t *testing.T, serve func(http.Handler) *httptest.Server) (d *dashboard, proxy *httptest.Server) {
	t.Helper()
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(parseURL("http://" + d.address))
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}}
	mux := http.NewServeMux()
	mux.Handle("/chat/guard/", http.StripPrefix("/chat/guard", forward))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/favicon.ico" { // browsers request it by themselves
			t.Errorf("the page asks for %s, outside of where it is mounted", r.URL.Path)
		}
		http.NotFound(w, r)
	})
	proxy = serve(mux)
	t.Cleanup(proxy.Close)
	d = dash(t, func(o *Options) {
		o.Site.PublicURL = parseURL(proxy.URL + "/chat/guard")
		o.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	return d, proxy
}

func TestProxyPage_SecureCookies(t *testing.T) {
	d, proxy := runBehindProxy(t, httptest.NewTLSServer)
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
