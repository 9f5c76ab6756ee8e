package fingerprint

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// forms returns a text in both forms.
func forms(text string) (exact, similar string) {
	var f form
	f.normalize(text)
	exact = f.String()
	f.reduce()
	return exact, f.String()
}

// TestForms has a text for each rule, in both forms.
func TestForms(t *testing.T) {
	for _, c := range []struct{ text, exact, similar string }{
		{"", "", ""},
		{"\u200b\u034f\U000e0000\u3164\u2800 ", "", ""},
		{"Hi There", "hi there", "hithere"},
		{"STRASSE Straße", "strase strase", "strasestrase"},
		{"İstanbul", "istanbul", "istanbul"},
		{"ıstanbul", "ıstanbul", "istanbul"},
		{"Σίσυφος ΣΊΣΥΦΟΣ", "σισυφοσ σισυφοσ", "oiouφoiouφo"},
		{"Crème brûlée", "creme brule", "cremebrule"},
		{"e\u0301\u0300\u0316\u20dd", "e", "e"},
		{"ﬁn ½ ㎏ Ⅷ ™", "fin 1⁄2 kg vi tm", "finkgvitm"},
		{"Ｆｕｌｌ　ｗｉｄｔｈ", "ful width", "fulwidth"},
		{"𝐛𝐨𝐥𝐝 𝓼𝓬𝓻𝓲𝓹𝓽 𝔣𝔯𝔞𝔨𝔱𝔲𝔯 Ⓒⓘⓡⓒⓛⓔ", "bold script fraktur circle", "boldscriptfrakturcircle"},
		{"sᴍᴀʟʟ ᴄᴀᴘs 🅱🄾🅇 🇭🇮", "sᴍᴀʟ ᴄᴀᴘs 🅱ox 🇭🇮", "smalcapsboxhi"},
		{"рауМеNТ", "раумеnт", "payment"},
		{"ΑΡΡΙΕ", "αριε", "apie"},
		{"ᎪᏢᏢᏞᎬ", "ᎪᏢᏞᎬ", "aple"},
		{"hellooo helo", "helo helo", "helohelo"},
		{"h e l l o", "h e l l o", "helo"},
		{"1000 1100", "1000 1100", ""},
		{"wow!!! ...?", "wow! .?", "wow"},
		{"a\t\r\n\u00a0\u3000\u0085\x00b", "a b", "ab"},
		{"\u202eright\u202c\u200f left\u2066", "right left", "rightleft"},
		{"in\u00advi\u200dsi\ufe0fble\U000e0041", "invisible", "invisible"},
		{"한글 \u1112\u1161\u11ab\u1100\u1173\u11af ㅎㅏㄴ", "\u1112\u1161\u11ab\u1100\u1173\u11af \u1112\u1161\u11ab\u1100\u1173\u11af \u1112\u1161\u1102", "\u1112\u1161\u11ab\u1100\u1173\u11af\u1112\u1161\u11ab\u1100\u1173\u11af\u1112\u1161\u1102"},
		{"ｶﾞｷﾞ ガギ", "カキ カキ", "カキカキ"},
		{"กำ ก็็็็", "กํา ก็", "กําก็"},
		{"😀😀 👍🏽 👍", "😀 👍🏽 👍", "😀👍"},
		{"a\xffb\xc3\x28", "a\ufffdb\ufffd(", "a\ufffdb"},
		{"a\xff\xfe\xfdb", "a\ufffdb", "a\ufffdb"},
		{"cut \xf0\x9f\x98", "cut", "cut"},
		{"cut \ufffd\ufffd", "cut", "cut"},
		{"\xff\xff", "", ""},

		{"@ann hello", "@an helo", "helo"},
		{"＠ann, @bob_2: hello", "@an, @bob_2: helo", "helo"},
		{"@ann", "@an", "an"},
		{"hello @ann", "helo @an", "heloan"},
		{"@ann @bob", "@an @bob", "bob"},
		{"it costs $1,000.50!", "it costs $1,000.50!", "itcosts"},
		{"buy it now (2)", "buy it now (2)", "buyitnow"},
		{"buy it now2", "buy it now2", "buyitnow"},
		{"buy it now x7k2p", "buy it now x7k2p", "buyitnow"},
		{"buy it now [x7k2p] #9 qwrtp", "buy it now [x7k2p] #9 qwrtp", "buyitnow"},
		{"buy it now x7k2p a1b2c d3e4f", "buy it now x7k2p a1b2c d3e4f", "buyitnowxkp"},
		{"buy x7k2p qwrtp", "buy x7k2p qwrtp", "buyxkp"},
		{"buy it bcdfghjklmnpq", "buy it bcdfghjklmnpq", "buyitbcdfghjklmnpq"},
		{"akrtzpo x7k2p", "akrtzpo x7k2p", "akrtzpo"},
		{"x7k2p", "x7k2p", "xkp"},
		{"buy it akrtzpo", "buy it akrtzpo", "buyit"},
		{"buy it brb", "buy it brb", "buyitbrb"},
		{"buy it 4head", "buy it 4head", "buyithead"},
		{"buy it x7k2p 😀", "buy it x7k2p 😀", "buyit"},
		{"😀 buy 😀 it 😀🔥 !", "😀 buy 😀 it 😀🔥 !", "buy😀it"},
		{"😀🔥 😀", "😀🔥 😀", "😀🔥😀"},
		{"buy it zdравстv7k2пж", "buy it zdравстv7k2пж", "buyitzdpabctvkпж"},
	} {
		if exact, similar := forms(c.text); exact != c.exact || similar != c.similar {
			t.Errorf("%q: %q, %q; want %q, %q", c.text, exact, similar, c.exact, c.similar)
		}
	}
}

// TestOf_Pages checks the examples in docs/limits.md.
func TestOf_Pages(t *testing.T) {
	for _, c := range []struct {
		similar bool
		texts   []string
	}{
		{false, []string{"Free SKINS", "free skins", "ｆｒｅｅ skins", "𝓯𝓻𝓮𝓮 skins", "ⓕⓡⓔⓔ skins", "f̴̛r̵͝e̶e̷ skins", "freeee  skins", "fre\tskins\u2800"}},
		{true, []string{"free skins", "frее skins", "ꜰʀᴇᴇ skins", "🅵🆁🅴🅴 skins", "@ann free skins", "free skins (2)", "3. free skins", "free skins x7k2p", "free skins [a8f3e9c2] qwrtp", "free skins strengths", "f.r.e.e, skins", "f r e e skins", "🔥 free skins 😀"}},
		{true, []string{"I have 5 apples", "I have 10 apples"}},
		{true, []string{"no one", "none"}},
		{false, []string{"か", "が"}},
	} {
		for _, text := range c.texts {
			p, first := (&Key{}).Of(text, true, true), (&Key{}).Of(c.texts[0], true, true)
			if p.Similar != first.Similar || !c.similar && p.Exact != first.Exact || c.similar && text != c.texts[0] && p.Exact == first.Exact {
				t.Errorf("%q and %q: %+v, %+v", text, c.texts[0], p, first)
			}
		}
		for _, other := range []string{"skins free", "free skin", "free skinsa", "free skins kafemu", "free skins rhythm", "free skins lol", "free skins :D", "free skins xD", "free skins @ann", "fr33 skins", "free 😀 skins"} {
			if (&Key{}).Of(other, true, true).Similar == (&Key{}).Of(c.texts[0], true, true).Similar {
				t.Errorf("%q is %q", other, c.texts[0])
			}
		}
	}
	for _, wall := range []string{strings.Repeat("a", 100), strings.Repeat("😀", 100)} {
		if p := (&Key{}).Of(wall, true, true); p.Exact.Length != 1 || p.Similar.Length != 1 {
			t.Errorf("%q: %+v", wall, p)
		}
	}
}

// TestOf_Differs checks that other texts have other prints.
func TestOf_Differs(t *testing.T) {
	seen := map[[16]byte]string{}
	for _, text := range []string{"free skins", "skins free", "fre skin", "free 😀 skins", "free 🔥 skins", "фрее щкинс", "自由", "由自", "a", "b", "aba", "aab b", "ab c", "ac b"} {
		p := (&Key{}).Of(text, true, true)
		if other, again := seen[p.Similar.Hash]; again {
			t.Errorf("%q has the print of %q", text, other)
		}
		seen[p.Similar.Hash] = text
	}
	if a, b := (&Key{1}).Of("free skins", true, true), (&Key{2}).Of("free skins", true, true); a.Exact == b.Exact || a.Similar == b.Similar {
		t.Error("the key has no effect")
	}
}

// TestOf_Prints checks which prints are computed, and what they say.
func TestOf_Prints(t *testing.T) {
	k := Key{1}
	both := k.Of("Héllo 2!", true, true)
	if both.Exact.Length != 7 || both.Similar.Length != 4 || both.Exact.Hash == both.Similar.Hash {
		t.Errorf("got %+v", both)
	}
	if got := k.Of("hello 2!", true, false); got != (Prints{Exact: both.Exact}) {
		t.Errorf("got %+v", got)
	}
	if got := k.Of("hello 3", false, true); got != (Prints{Similar: both.Similar}) {
		t.Errorf("got %+v", got)
	}
	if got := k.Of("\u200b 2", true, true); got.Similar != (Print{}) || got.Exact.Length != 1 {
		t.Errorf("got %+v", got)
	}
	if got := k.Of("", true, true); got != (Prints{}) {
		t.Errorf("got %+v", got)
	}
}

// TestOf_Bounds checks what counts of long texts.
func TestOf_Bounds(t *testing.T) {
	k := Key{1}
	long := emoji(MaxLength)
	p := k.Of(long, true, true)
	if p.Exact.Length != MaxLength || p.Similar.Length != MaxLength {
		t.Errorf("%d four-byte characters count as %d and %d", MaxLength, p.Exact.Length, p.Similar.Length)
	}
	if k.Of(long+"more", true, true) != p {
		t.Error("what follows the longest text counts")
	}
	if k.Of(emoji(MaxLength-1)+"a", true, true) == p {
		t.Error("the last character doesn't count")
	}
	if got := k.Of(strings.Repeat("\ufdfa", MaxLength), true, true); got.Exact.Length != MaxLength {
		t.Errorf("ligatures of 18 characters count as %d", got.Exact.Length)
	}
	padding := strings.Repeat("\u034f", MaxBytes/2-1)
	if k.Of("a"+padding+"b", true, true) != k.Of("ab", true, true) || k.Of("a"+padding+"\u034fb", true, true) != k.Of("a", true, true) {
		t.Error("not MaxBytes are read")
	}
}

// TestOf_DoesNotAllocate checks it for each text of the benchmark.
func TestOf_DoesNotAllocate(t *testing.T) {
	k := Key{1}
	for _, c := range benchTexts {
		if n := testing.AllocsPerRun(10, func() { k.Of(c.text, true, true) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

// TestOf_Properties checks on random texts that normalization forms of Unicode, what is invisible,
// and a second normalization change nothing.
func TestOf_Properties(t *testing.T) {
	k := Key{1}
	ignorable := rapid.SampledFrom([]string{"\u00ad", "\u034f", "\u061c", "\u115f", "\u180b", "\u200b", "\u200d", "\u202e", "\u2060", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\U0001d173", "\U000e0000", "\U000e0fff", "\u0301", "\u0489"})
	rapid.Check(t, func(t *rapid.T) {
		runes := rapid.SliceOfN(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("aAeé1 .@ß가각ｶﾞ\u0301\u1161\u11a8"))), 0, 100).Draw(t, "text")
		text := string(runes)
		want := k.Of(text, true, true)
		for name, form := range map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD} {
			if k.Of(form.String(text), true, true) != want {
				t.Errorf("%s of %q differs", name, text)
			}
		}
		at := rapid.IntRange(0, len(runes)).Draw(t, "at")
		if k.Of(string(runes[:at])+ignorable.Draw(t, "ignorable")+string(runes[at:]), true, true) != want {
			t.Errorf("an invisible character in %q at %d counts", text, at)
		}
		exact, similar := forms(text)
		if again, similarAgain := forms(exact); again != exact || similarAgain != similar {
			t.Errorf("%q is normalized to %q, %q, and then to %q, %q", text, exact, similar, again, similarAgain)
		}
	})
}

// FuzzOf checks that no text causes a panic, and that the similar form depends on the exact one
// only.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"", "\xff", "@a b", "x7k2p", "a x7k2p 9", "\U0010ffff", "\xed\xa0\x80", "ﷺ", "각"} {
		f.Add(seed)
	}
	k := Key{1}
	f.Fuzz(func(t *testing.T, text string) {
		exact, _ := forms(text)
		p := k.Of(text, true, true)
		if !utf8.ValidString(exact) || utf8.RuneCountInString(exact) != p.Exact.Length || p.Similar.Length > p.Exact.Length {
			t.Errorf("%q: %q, %+v", text, exact, p)
		}
		if k.Of(exact, true, true) != p {
			t.Errorf("%q and its exact form %q have other prints", text, exact)
		}
	})
}
