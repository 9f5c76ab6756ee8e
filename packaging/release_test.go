//go:build deploy

package packaging

import (
	"archive/zip"
	"bufio"
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// platforms are the systems and processors that a release is for.
var platforms = []struct{ system, arch, archive string }{
	{"linux", "amd64", ".tar.gz"}, {"linux", "arm64", ".tar.gz"}, {"darwin", "amd64", ".tar.gz"},
	{"darwin", "arm64", ".tar.gz"}, {"windows", "amd64", ".zip"}, {"windows", "arm64", ".zip"},
}

// archived returns files that the archive for a system holds.
func archived(system string) []string {
	files := []string{"README.md", "LICENSE", "CHANGELOG.md", "config.example.toml",
		"THIRD-PARTY-LICENSES.txt", "completions/chatguard.ps1"}
	if system == "windows" {
		return append(files, "chatguard.exe")
	}
	files = append(files, "chatguard", "man/chatguard.1.gz", "man/chatguard-run.1.gz",
		"completions/chatguard.bash", "completions/_chatguard", "completions/chatguard.fish")
	if system == "darwin" {
		return append(files, "launchd/com.github.chatguard.plist")
	}
	return append(files, "systemd/chatguard.service", "systemd/chatguard.socket",
		"systemd/chatguard-backup.service", "systemd/chatguard-backup.timer")
}

// TestRelease_Archives checks what the archives hold, and for which system and processor the
// programs are.
func TestRelease_Archives(t *testing.T) {
	for _, p := range platforms {
		t.Run(p.system+"/"+p.arch, func(t *testing.T) {
			archive := released(t, fmt.Sprintf("chatguard_*_%s_%s%s", p.system, p.arch, p.archive))
			folder := strings.TrimSuffix(filepath.Base(archive), p.archive) + "/"
			names := list(t, archive)
			for _, name := range archived(p.system) {
				if !slices.Contains(names, folder+name) {
					t.Errorf("no %s in %q", folder+name, names)
				}
			}
			name := "chatguard"
			if p.system == "windows" {
				name = "chatguard.exe"
			}
			program := extract(t, archive, folder+name)
			if system, arch := target(program); system != p.system || arch != p.arch {
				t.Errorf("the program is for %s/%s", system, arch)
			}
			t.Logf("program %.1f MB, archive %.1f MB",
				float64(len(program))/1e6, float64(size(t, archive))/1e6)
		})
	}
}

// list returns the names of the files in an archive.
func list(t *testing.T, path string) (names []string) {
	t.Helper()
	if !strings.HasSuffix(path, ".zip") {
		return strings.Fields(output(t, exec.Command("tar", "-tzf", path)))
	}
	archive, err := zip.OpenReader(path)
	must(t, err)
	defer archive.Close()
	for _, file := range archive.File {
		names = append(names, file.Name)
	}
	return names
}

// extract returns the content of a file in an archive.
func extract(t *testing.T, path, name string) []byte {
	t.Helper()
	if !strings.HasSuffix(path, ".zip") {
		return []byte(output(t, exec.Command("tar", "-xzOf", path, name)))
	}
	archive, err := zip.OpenReader(path)
	must(t, err)
	defer archive.Close()
	file, err := archive.Open(name)
	must(t, err)
	defer file.Close()
	content, err := io.ReadAll(file)
	must(t, err)
	return content
}

// target returns the system and the processor that a program is for, by its header.
func target(program []byte) (system, arch string) {
	r := bytes.NewReader(program)
	if f, err := elf.NewFile(r); err == nil {
		return "linux", map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	}
	if f, err := macho.NewFile(r); err == nil {
		return "darwin", map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	}
	if f, err := pe.NewFile(r); err == nil {
		return "windows", map[uint16]string{
			pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64",
		}[f.Machine]
	}
	return "", ""
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// TestRelease_Checksums checks that the checksums match, and that no file to download lacks one.
func TestRelease_Checksums(t *testing.T) {
	sums := released(t, "checksums.txt")
	check := exec.Command("sha256sum", "--check", "--strict", filepath.Base(sums))
	check.Dir = filepath.Dir(sums)
	checked := output(t, check)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(sums), "chatguard_*.*"))
	if err != nil || len(files) != 6+4+6 {
		t.Fatalf("the release has %d files, want 6 archives, 4 packages and 6 SBOMs (%v)",
			len(files), err)
	}
	for _, path := range files {
		if !strings.Contains(checked, filepath.Base(path)+": OK\n") {
			t.Errorf("no checksum of %s in\n%s", filepath.Base(path), checked)
		}
	}
}

// TestRelease_Runs runs the program of this machine, and that of 64-bit ARM with an emulator.
func TestRelease_Runs(t *testing.T) {
	var built struct{ Version, Commit, Date string }
	readJSON(t, released(t, "metadata.json"), &built)
	for _, run := range [][]string{{"amd64"}, {"arm64", "qemu-aarch64-static"}} {
		t.Run(run[0], func(t *testing.T) {
			command := append(run[1:], filepath.Join(unpacked(t, "linux", run[0]), "chatguard"))
			var version struct{ Version, Commit, Date, Go, Platform string }
			said := output(t, exec.Command(command[0], append(command[1:], "version", "--json")...))
			if err := json.Unmarshal([]byte(said), &version); err != nil {
				t.Fatalf("%s: %v", said, err)
			}
			if version.Version != "v"+built.Version || version.Commit != built.Commit ||
				version.Date == "" || version.Platform != "linux/"+run[0] {
				t.Errorf("version says %s, want version v%s and commit %s", said, built.Version, built.Commit)
			}
			runDemo(t, exec.Command(command[0],
				append(command[1:], "demo", "--no-browser", "--listen", "127.0.0.1:0")...))
		})
	}
}

// runDemo starts the demo, and stops it once the dashboard is served.
func runDemo(t *testing.T, demo *exec.Cmd) {
	t.Helper()
	out, err := demo.StdoutPipe()
	if err == nil {
		err = demo.Start()
	}
	must(t, err)
	served := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if !served && strings.Contains(lines.Text(), "http://127.0.0.1:") {
			served = true
			if err := demo.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	if err := demo.Wait(); err != nil || !served {
		t.Errorf("demo ended with %v; served: %v", err, served)
	}
}

// TestRelease_SBOM checks that each program's list of parts names what is compiled into it.
func TestRelease_SBOM(t *testing.T) {
	for _, p := range platforms {
		var bom struct {
			BOMFormat string
			Metadata  struct {
				Component struct{ Name, Version string }
			}
			Components []struct {
				Name, Version, Purl string
				Evidence            struct{ Licenses []any }
			}
		}
		path := released(t, fmt.Sprintf("chatguard_*_%s_%s.cdx.json", p.system, p.arch))
		readJSON(t, path, &bom)
		parts := map[string]string{}
		for _, c := range bom.Components {
			parts[c.Name] = c.Version
		}
		name := bom.Metadata.Component.Name
		if bom.BOMFormat != "CycloneDX" || name != "github.com/chatguard/chatguard" {
			t.Errorf("%s is of %q in the format %q", path, name, bom.BOMFormat)
		}
		for _, name := range []string{"modernc.org/sqlite", "github.com/spf13/cobra", "std"} {
			if parts[name] == "" {
				t.Errorf("%s doesn't name %s: %v", path, name, parts)
			}
		}
	}
}

// TestRelease_ManPages checks that the manual has a page for each command, and that mandoc has
// nothing to say of any.
func TestRelease_ManPages(t *testing.T) {
	folder := unpacked(t, "linux", "amd64")
	output(t, exec.Command("gunzip", "--recursive", filepath.Join(folder, "man")))
	pages, err := filepath.Glob(filepath.Join(folder, "man/chatguard*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	output(t, exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, pages...)...))
	page := filepath.Join(folder, "man/chatguard-version.1")
	shown := output(t, exec.Command("mandoc", "-T", "html", page))
	if !strings.Contains(shown, "Print the version") || !strings.Contains(shown, "--json") {
		t.Errorf("the page of version is\n%s", shown)
	}
}

// TestRelease_Starter checks that the configuration of the packages is valid except for the missing
// channel, and that chatguard then ends with exit code 2, with which systemd doesn't restart it.
func TestRelease_Starter(t *testing.T) {
	folder := unpacked(t, "linux", "amd64")
	run := exec.Command(filepath.Join(folder, "chatguard"), "run", "--config", "linux/starter.toml")
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 ||
		!strings.Contains(string(out), "twitch.channels: is empty") {
		t.Errorf("run ended with %v and said\n%s", err, out)
	}
}
