package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
)

const exampleFile = "../../config.example.toml"

func readExample(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(exampleFile)
	must(t, err)
	return data
}

func TestExampleFile_ShowsDefaults(t *testing.T) {
	want := Default()
	want.Path = "config.example.toml"
	want.Twitch.Channels = []string{"yourchannel"}
	assertEqual(t, exampleFile, mustParse(t, want.Path, string(readExample(t)), nil), want)
}

// The commented-out parts of the example must also be valid, and together with the rest they must
// contain every key.
func TestExampleFile_HasEveryKey(t *testing.T) {
	commented := regexp.MustCompile(`(?m)^( *)# (\[|[a-z_]+ = )`)
	data := commented.ReplaceAll(readExample(t), []byte("$1$2"))
	_, err := Parse("config.example.toml", data, nil)
	must(t, err)
	tree, err := parse(data)
	must(t, err)
	found := map[string]bool{}
	eachKeyOf(tree, "", func(key string) { found[key] = true })
	c := Default()
	for _, key := range knownKeys(documentOf(&c), "") {
		if !found[key] {
			t.Errorf("%s is missing in %s", key, exampleFile)
		}
	}
}

// eachKeyOf visits the keys below a value of the file. Lists add nothing to a key. The name of a
// role or channel becomes *.
func eachKeyOf(value any, key string, visit func(string)) {
	list, _ := elements(value)
	for _, element := range list {
		eachKeyOf(element, key, visit)
	}
	table, _ := value.(map[string]any)
	for name, below := range table {
		if strings.HasSuffix(key, ".limit.roles") || key == ".channel" {
			name = "*"
		}
		visit(key + "." + name)
		eachKeyOf(below, key+"."+name, visit)
	}
}

// knownKeys lists the keys that a file may have, spelled as in eachKeyOf. For a channel it lists
// only the names of the tables, because their keys are the same as outside a channel.
func knownKeys(table reflect.Value, above string) []string {
	var keys []string
	for _, f := range fieldsOf(table) {
		key, below := above+"."+f.name, f.value
		if isSecret(below.Type()) {
			continue
		}
		keys = append(keys, key)
		if below.Type() == reflect.TypeFor[channelTables]() {
			for _, name := range namesOf(channelTableOf(&chatguard.Policy{})) {
				keys = append(keys, key+".*."+name)
			}
			continue
		}
		if below.Kind() == reflect.Map {
			key += ".*"
		}
		if below.Kind() == reflect.Map || isTables(below.Type()) {
			below = reflect.New(below.Type().Elem()).Elem()
		}
		if isTable(below.Type()) {
			keys = append(keys, knownKeys(below, key)...)
		}
	}
	return keys
}

func TestStarter_Loads(t *testing.T) {
	ofTwitch := Default()
	ofTwitch.Path = "chatguard.toml"
	ofTwitch.Timezone, ofTwitch.Policy.Timezone = "Europe/Berlin", "Europe/Berlin"
	ofTwitch.Policy.Limits[1].ResetAt = "" // the starter leaves midnight as the default
	own := ofTwitch
	ofTwitch.Twitch.Channels = []string{"someone"}
	complete := ofTwitch
	complete.Twitch.ClientID, complete.Web.Listen = "abcde12345", "127.0.0.1:7000"
	own.Check.Channels = []string{"Raum \"7\" \\ ä\u200b"}
	own.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDrop}}
	for _, c := range []struct {
		starter Starter
		want    Config
	}{
		{Starter{Channel: "#SomeOne", Timezone: "Europe/Berlin"}, ofTwitch},
		{Starter{Channel: "someone", Timezone: "Europe/Berlin", ClientID: "abcde12345", Listen: "127.0.0.1:7000"}, complete},
		{Starter{Room: own.Check.Channels[0], Timezone: "Europe/Berlin"}, own},
	} {
		data, err := c.starter.Write()
		must(t, err)
		assertEqual(t, "starter", mustParse(t, c.want.Path, string(data), nil), c.want)
	}
}

func TestStarter_Refused(t *testing.T) {
	for _, c := range []struct {
		starter Starter
		want    string
	}{
		{Starter{Channel: "a\" b", Timezone: "UTC"}, `"a\" b" is not a channel name (want 1 to 25 letters, digits and _, as in twitch.tv/name)`},
		{Starter{Room: "a\nb", Timezone: "UTC"}, `"a\nb" is not a channel ID (want 1 to 250 bytes without line breaks, as your server calls it)`},
		{Starter{Channel: "a", Timezone: "Berlin"}, `unknown timezone "Berlin" (want an IANA name such as Europe/Berlin)`},
	} {
		_, err := c.starter.Write()
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
