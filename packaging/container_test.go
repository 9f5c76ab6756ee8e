//go:build deploy

package packaging

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/programtest"
)

// maxImage is the maximum size in bytes of the image, unpacked.
const maxImage = 25_000_000

// TestImage builds the image and runs it.
func TestImage(t *testing.T) {
	p := newPodman(t)
	for _, part := range []struct {
		name string
		test func(p *podman)
	}{
		{"size and labels", testImageSize}, {"demo", testImageDemo},
		{"lab", testImageLab}, {"run", testImageRun},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(&podman{t, p.root}) })
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("a container has changed %s: %+v, %v", os.DevNull, info, err)
	}
}

func testImageSize(p *podman) {
	size, err := strconv.Atoi(p.must("image", "inspect", "--format", "{{.Size}}", "chatguard"))
	if err != nil || size > maxImage {
		p.Errorf("the image has %d bytes, %v; want at most %d", size, err, maxImage)
	}
	layers := filepath.Join(p.root, "image.tar")
	p.must("save", "--output", layers, "chatguard")
	file, err := os.Open(layers)
	must(p, err)
	defer file.Close()
	var packed counter
	zip := gzip.NewWriter(&packed)
	_, err = io.Copy(zip, file)
	must(p, err)
	must(p, zip.Close())
	p.Logf("the image has %d bytes, compressed %d", size, packed)
	labels := p.must("image", "inspect", "--format", "{{json .Labels}}", "chatguard")
	if !strings.Contains(labels, `"org.opencontainers.image.version":"1.2.3"`) {
		p.Errorf("the labels are %s", labels)
	}
	version := p.must(runArguments([]string{"--rm"}, "version")...)
	if !strings.Contains(version, "chatguard") {
		p.Errorf("version prints %q", version)
	}
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// testImageDemo checks that a browser on this machine can sign in to the demo of a container, by
// its link.
func testImageDemo(p *podman) {
	p.start("demo", nil, "demo", "--for", "8s", "--listen", "0.0.0.0:0")
	text := p.waitFor("demo", "Ctrl-C ends the demo", 1)
	link := regexp.MustCompile(`(http://127\.0\.0\.1:\d+/)#signin=(\w+)`).FindStringSubmatch(text)
	if link == nil {
		p.Fatal("the demo printed no link")
	}
	signIn := request(p.T, "POST", link[1]+"api/v1/session", fmt.Sprintf(`{"code":%q}`, link[2]))
	signIn.Header.Set("Content-Type", "application/json")
	if status, text := answer(p.T, signIn); status != http.StatusOK {
		p.Errorf("signing in: %d %s", status, text)
	}
	rebound := request(p.T, "GET", link[1], "")
	rebound.Host = "chat.example.org"
	if status, _ := answer(p.T, rebound); status != http.StatusMisdirectedRequest {
		p.Errorf("for an unknown host: %d", status)
	}
	if text := p.waitFor("demo", "still visible", 1); !strings.Contains(text, "own record agrees") {
		p.Errorf("the demo ended with\n%s", text)
	}
}

func testImageLab(p *podman) {
	p.start("lab", nil, "lab", "--listen", "0.0.0.0:0")
	text := p.waitFor("lab", "Ctrl-C ends the Lab", 1)
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(text)
	status, page := answer(p.T, request(p.T, "GET", link, ""))
	if status != http.StatusOK || !strings.Contains(page, "<title>") {
		p.Errorf("the Lab answers %d %q", status, page)
	}
}

// testImageRun checks a chatguard that only the environment configures, with its data in a volume.
func testImageRun(p *podman) {
	port := fmt.Sprint(programtest.FreeAddress(p).Port)
	address := "http://127.0.0.1:" + port + "/"
	options := []string{"--volume", "data:/data"}
	for name, value := range map[string]string{
		"CHECK_CHANNELS": "lobby", "POLICY_MODE": "enforce", "FLUSH_INTERVAL": "1s",
		"WEB_TOKEN": ownToken, "WEB_LISTEN": "0.0.0.0:" + port,
		"WEB_PUBLIC_URL": "https://chat.example.org", "WEB_TRUSTED_PROXIES": "127.0.0.1",
	} {
		options = append(options, "--env", "CHATGUARD_"+name+"="+value)
	}
	p.start("run", options)
	p.awaitHealth(1)
	p.checkUnprivileged()

	for n := range 3 {
		if status, text := check(p.T, address); status != http.StatusOK {
			p.Errorf("message %d: %d %s", n+1, status, text)
		}
	}
	if status, text := check(p.T, address); status != http.StatusTooManyRequests {
		p.Errorf("message 4: %d %s", status, text)
	}
	p.must("exec", "run", "chatguard", "token", "make", "kept", "--role", "view")
	p.must("exec", "run", "chatguard", "reload")
	for range 2 { // as docs/container.md says, in a volume without that folder
		p.must("exec", "run", "chatguard", "backup", "--folder", "/data/backups", "--keep", "14", "--force")
	}

	// A second container with the same data, in which both processes have the same PID.
	second := append(options, "--rm", "--env", "CHATGUARD_WEB_LISTEN=127.0.0.1:0")
	p.refused("in use by another container", runArguments(second)...)
	p.refused("chatguard runs in another container", runArguments(second, "reload")...)

	p.must("kill", "--signal", "KILL", "run")
	p.must("wait", "run")
	p.must("start", "run")
	p.awaitHealth(2)
	if text := p.must("exec", "run", "chatguard", "token", "list"); !strings.Contains(text, "kept") {
		p.Errorf("after a kill the tokens are\n%s", text)
	}
	p.must("stop", "--time", "20", "run")
	if code := p.must("inspect", "--format", "{{.State.ExitCode}}", "run"); code != "0" {
		p.Errorf("stopped with exit code %s", code)
	}
	p.must("start", "run")
	p.awaitHealth(3)
	export := p.must("exec", "run", "chatguard", "export", "-")
	if !strings.Contains(export, `"user_id":"check:7"`) {
		p.Errorf("after a restart the database has nothing about the user\n%s", export)
	}
}

// ownToken is the owner's token.
const ownToken = "a-token-for-tests-0123456789abcdef"

// awaitHealth waits for the container's n-th start, and runs the image's own check of its health.
func (p *podman) awaitHealth(start int) {
	p.Helper()
	p.waitFor("run", "Dashboard: ", start)
	p.must("healthcheck", "run", "run")
}

// checkUnprivileged checks what the kernel says about the container's process.
func (p *podman) checkUnprivileged() {
	p.Helper()
	pid := p.must("inspect", "--format", "{{.State.Pid}}", "run")
	status, err := os.ReadFile("/proc/" + pid + "/status")
	must(p, err)
	for _, line := range []string{
		"Uid:\t65532\t65532", "Gid:\t65532\t65532",
		"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1",
	} {
		if !strings.Contains(string(status), "\n"+line) {
			p.Errorf("the process lacks %q:\n%s", line, status)
		}
	}
}

// check asks about a message of the user 7, as the proxy forwards it.
func check(t *testing.T, address string) (status int, text string) {
	t.Helper()
	r := request(t, "POST", address+"api/v1/check", `{"channel":"lobby","user_id":"7"}`)
	r.Host = "chat.example.org"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+ownToken)
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	return answer(t, r)
}

func request(t *testing.T, method, address, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	must(t, err)
	return r
}

func answer(t *testing.T, r *http.Request) (status int, text string) {
	t.Helper()
	a, err := http.DefaultClient.Do(r)
	must(t, err)
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	must(t, err)
	return a.StatusCode, string(body)
}

// TestCompose checks that Compose reads the file with the example of its variables, and that each
// container is hardened.
func TestCompose(t *testing.T) {
	folder := t.TempDir()
	for to, from := range map[string]string{"compose.yaml": "compose.yaml", ".env": "env.example"} {
		copyFile(t, filepath.Join("container", from), filepath.Join(folder, to), 0o600)
	}
	config := func(env ...string) (string, error) {
		compose := exec.Command("docker-compose", "--file", "compose.yaml", "config")
		compose.Dir, compose.Env = folder, append(os.Environ(), env...)
		out, err := compose.CombinedOutput()
		return string(out), err
	}
	text, err := config()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for line, times := range map[string]int{
		"    read_only: true": 2, "    cap_drop:\n    - ALL": 2,
		"    - no-new-privileges:true": 2, "    restart: unless-stopped": 2,
		"CHATGUARD_WEB_PUBLIC_URL: https://chat.example.org": 1,
	} {
		if n := strings.Count(text, line); n != times {
			t.Errorf("%q is there %d times, want %d:\n%s", line, n, times, text)
		}
	}
	if text, err := config("DOMAIN="); err == nil || !strings.Contains(text, "set it in .env") {
		t.Errorf("without a domain: %v\n%s", err, text)
	}
	caddy := exec.Command("caddy", "validate", "--config", "container/Caddyfile",
		"--adapter", "caddyfile")
	caddy.Env = append(os.Environ(), "DOMAIN=chat.example.org")
	if out, err := caddy.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
