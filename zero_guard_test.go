package chatguard

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// A method of a Guard that New hasn't created says so, unless it needs nothing that New creates.
func TestGuard_Zero(t *testing.T) {
	message := Message{ChannelID: "1", User: User{ID: "7"}}
	sent := message
	sent.SentAt = monday
	arguments := map[reflect.Type][]any{
		reflect.TypeFor[Message](): {message, sent}, reflect.TypeFor[[]Message](): {[]Message{message}, []Message{sent}},
		reflect.TypeFor[[]Verdict](): {make([]Verdict, 1)}, reflect.TypeFor[context.Context](): {t.Context()},
		reflect.TypeFor[Key](): {Key{ChannelID: "1", UserID: "7"}}, reflect.TypeFor[time.Time](): {monday}, reflect.TypeFor[string](): {"1"},
		reflect.TypeFor[int](): {1}, reflect.TypeFor[Verdict](): {Verdict{ChannelID: "1", UserID: "7", At: monday, Spent: 1, EntryID: 1}},
		reflect.TypeFor[Policy](): {DefaultPolicy()}, reflect.TypeFor[UserOverride](): {UserOverride{}},
	}
	typ := reflect.TypeFor[*Guard]()
	for i := range typ.NumMethod() {
		method := typ.Method(i)
		for n := range 2 { // for each way to state a message
			in := []reflect.Value{reflect.ValueOf(new(Guard))}
			for k := 1; k < method.Type.NumIn(); k++ {
				of := method.Type.In(k)
				if values := arguments[of]; len(values) > 0 {
					in = append(in, reflect.ValueOf(values[n%len(values)]))
				} else {
					in = append(in, reflect.Zero(of))
				}
			}
			if said := panicOf(func() { use(method.Func.Call(in)) }); said != zeroGuard && said != "<nil>" {
				t.Errorf("%s: %v, want %s", method.Name, said, zeroGuard)
			}
		}
	}
}

// use ranges over the iterators among the results of a call.
func use(results []reflect.Value) {
	for _, r := range results {
		if r.Kind() == reflect.Func && r.Type().CanSeq2() {
			for range r.Seq2() {
			}
		}
	}
}

func panicOf(do func()) (said string) {
	defer func() { said = fmt.Sprint(recover()) }()
	do()
	return said
}
