//go:build !race

package web

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"testing"
)

// runBehindProxy runs a dashboard behind a real reverse proxy, below /chat/guard/.
func runBehindProxy(t *testing.T, serve func(http.Handler) *httptest.Server) (d *dashboard, proxy *httptest.Server) {
	t.Helper()
	proxy = startProxy(t, serve, func() string { return d.address }, nil)
	d = dash(t, trustProxy(proxy.URL+"/chat/guard"))
	return d, proxy
}

// trustProxy returns an option for a dashboard behind a proxy on this machine.
func trustProxy(publicURL string) func(*Options) {
	return func(o *Options) {
		o.Access.Site.PublicURL = parseURL(publicURL)
		o.Access.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
}

// startProxy starts a proxy that forwards what is below /chat/guard/ to an address. It passes each
// request to see, unless that is nil.
func startProxy(t *testing.T, serve func(http.Handler) *httptest.Server, address func() string, see func(*http.Request)) *httptest.Server {
	t.Helper()
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if see != nil {
			see(r.In)
		}
		r.SetURL(parseURL("http://" + address()))
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
	proxy := serve(mux)
	t.Cleanup(proxy.Close)
	return proxy
}
