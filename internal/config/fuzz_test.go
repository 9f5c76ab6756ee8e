package config

import (
	"os"
	"path/filepath"
	"testing"
)

// For any file and environment, Parse returns a working configuration or one line about a place
// that exists.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/bad/*.toml")
	must(f, err)
	for _, path := range append(paths, "testdata/sample.toml", exampleFile) {
		data, err := os.ReadFile(path)
		must(f, err)
		f.Add(data, "a, b")
	}
	f.Add([]byte(withChannels), "UTC")
	f.Fuzz(func(t *testing.T, data []byte, variable string) {
		for _, env := range []func(string) (string, bool){nil, func(string) (string, bool) { return variable, true }} {
			c, err := Parse("c.toml", data, env)
			if err != nil {
				problem(t, err)
				continue
			}
			if err := c.Policy.Validate(); err != nil {
				t.Errorf("accepted a policy that can't work: %v", err)
			}
			for name := range c.Channels {
				if err := c.PolicyFor(name).Validate(); err != nil {
					t.Errorf("accepted a policy of %q that can't work: %v", name, err)
				}
			}
		}
	})
}
