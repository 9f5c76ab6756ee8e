package config

import (
	"reflect"
)

// Differences returns the keys in which two configurations differ, in the order of the file. For
// differences in [[limit]] and [channel.NAME] it returns only the heading.
func Differences(a, b Config) []string { return differences(documentOf(&a), documentOf(&b), nil) }

func differences(a, b reflect.Value, at place) (keys []string) {
	others := fieldsOf(b)
	for i, f := range fieldsOf(a) {
		switch below := at.child(f.name); {
		case isTable(f.value.Type()) && f.value.Kind() == reflect.Struct:
			keys = append(keys, differences(f.value, others[i].value, below)...)
		case !reflect.DeepEqual(f.value.Interface(), others[i].value.Interface()):
			keys = append(keys, below.String())
		}
	}
	return keys
}
