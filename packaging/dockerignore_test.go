package packaging

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// patterns returns the patterns of an ignore file.
func patterns(t *testing.T, name string) (list []string) {
	t.Helper()
	contents, err := os.ReadFile(name)
	must(t, err)
	for line := range strings.Lines(string(contents)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			list = append(list, line)
		}
	}
	return list
}

// TestDockerignore_Secrets checks that what chatguard writes where it runs gets neither into the
// repository nor into the build of an image.
func TestDockerignore_Secrets(t *testing.T) {
	t.Parallel()
	docker := patterns(t, "../.dockerignore")
	checked := 0
	for _, pattern := range patterns(t, "../.gitignore") {
		if strings.ContainsAny(pattern, "/") || pattern == "*.exe" || pattern == "*.test" {
			continue // a build, or what a test leaves
		}
		checked++
		if !slices.Contains(docker, "**/"+pattern) {
			t.Errorf("**/%s is missing in .dockerignore", pattern)
		}
	}
	if checked < 10 {
		t.Errorf("checked %d patterns of .gitignore, want 10 or more", checked)
	}
}
