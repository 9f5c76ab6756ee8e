package faketwitch

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Texts for the users of a Crowd. All of them are invented.
var (
	remarks = []string{
		"that jump was so close", "hello from the kitchen", "I just got here, what did I miss?", "the music in this level is lovely",
		"my cat is watching too", "who else is drawing along?", "that was the plan all along", "one more try!", "the tea is ready",
		"this is my favourite part", "I never noticed that door", "good evening everyone", "is it raining where you are?",
		"the map is upside down again", "what a save", "I would have fallen there", "can we see the garden again?",
		"first time I understand this puzzle", "left, left, no the other left", "the owl knows the way", "best stream of the week",
		"I'm knitting a scarf while I watch", "that colour fits so well", "how did you find that?", "the boss looks friendly today",
		"back from work, finally", "you can do it", "so that is what the key is for", "the lighting is beautiful", "patience pays off",
		"wait, there was a bridge?", "I'm taking notes", "greetings from a train", "the soup turned out great by the way",
		"that sound effect gets me every time", "who named that fish?", "three hearts left, we believe", "slow and steady",
		"the new overlay looks great", "I learned so much today", "see you tomorrow, good night", "what are we baking next?",
	}
	reactions = []string{"haha", "wow", "nice", "gg", "LETS GO", "oh no", "yes!", "phew", "hehe", "so good", "no way", "welcome!", "same here", "aww"}
	// openings are what chatters begin a remark with, each with their own. So two of them rarely
	// write the same.
	openings = []string{
		"", "honestly, ", "by the way, ", "okay, ", "hey, ", "wow, ", "listen, ", "well, ", "oh, ", "hm, ", "friends, ", "chat, ", "folks, ", "you know, ",
		"I mean, ", "look, ", "for real, ", "no joke, ", "believe me, ", "just saying, ",
	}
	faces   = []string{"", "", "", " :)", " :D", " <3", " ^^", " !!", " \U0001F389", " \U0001F33B", " \U0001F989"}
	hosting = []string{
		"welcome in, everyone", "thank you for the kind words", "the poll is open", "short break in ten minutes", "that was all luck",
		"we do the garden after this", "hydrate, friends", "I read every one of your messages", "same time tomorrow", "left it is, then",
	}
	moderating = []string{
		"welcome! the rules are below the stream", "please one message at a time", "the link is in the panels", "the poll is pinned",
		"no spoilers, please", "slowly, everyone gets their turn", "thank you for the raid!", "song name: Paper Lanterns",
	}
	spamming = []string{
		"look at my drawing of a frog", "play my level next", "say hi to me", "guess my number", "my sandwich has four layers",
		"answer my question please", "pick me for the next round", "I can count to a thousand, watch",
	}
	raiding = []string{"RAID! hello from the garden show", "we brought cookies", "hi hi hi", "the frogs are here", "what are we watching?", "so many of us", "love the music"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func decorate(r *rand.Rand, text string) string { return text + pick(r, faces) }

func chatterText(r *rand.Rand, opening string) string {
	if r.IntN(3) == 0 {
		return decorate(r, pick(r, reactions))
	}
	return decorate(r, opening+pick(r, remarks))
}

func hostText(r *rand.Rand) string { return decorate(r, pick(r, hosting)) }
func modText(r *rand.Rand) string  { return pick(r, moderating) }
func raidText(r *rand.Rand) string { return decorate(r, pick(r, raiding)) }
func spamText(r *rand.Rand) string { return strings.ToUpper(pick(r, spamming)) }

// names generates names without repeats.
type names struct {
	rng       *rand.Rand
	localised []Line
	given     map[string]bool
}

var (
	qualities = []string{
		"Quiet", "Amber", "Brave", "Cosy", "Dapper", "Early", "Fuzzy", "Gentle", "Hazel", "Ivory", "Jolly", "Kind", "Lunar", "Mellow",
		"Noble", "Olive", "Plucky", "Quick", "Rusty", "Sunny", "Tiny", "Umber", "Velvet", "Witty", "Young", "Zesty", "Misty", "Copper",
	}
	creatures = []string{
		"Otter", "Badger", "Cricket", "Dormouse", "Egret", "Ferret", "Gecko", "Heron", "Ibis", "Jackdaw", "Kestrel", "Lynx", "Marten",
		"Newt", "Owl", "Puffin", "Quail", "Robin", "Stoat", "Toad", "Urchin", "Vole", "Wren", "Yak", "Lantern", "Teapot", "Kettle",
	}
)

// localised are users whose display name is in another script than their login, as at Twitch:
// regulars, then visitors.
var localised = [2][]Line{
	{
		{Login: "nagai_k", DisplayName: "長井"}, {Login: "haneul_e", DisplayName: "하늘이"}, {Login: "lesnaya_sova", DisplayName: "Лесная_Сова"},
		{Login: "yuki_0311", DisplayName: "雪うさぎ"}, {Login: "alqamar", DisplayName: "القمر"}, {Login: "xiaolu", DisplayName: "小鹿"},
	},
	{
		{Login: "soramame22", DisplayName: "そらまめ"}, {Login: "qingcha", DisplayName: "青茶"}, {Login: "dalbit", DisplayName: "달빛"},
		{Login: "mishka_77", DisplayName: "Мишка"}, {Login: "hoshizora_m", DisplayName: "星空"}, {Login: "najm_a", DisplayName: "نجمة"},
	},
}

// next returns the author of a line: login and display name.
func (n *names) next() Line {
	for {
		if n.rng.IntN(16) == 0 {
			if line := n.localised[n.rng.IntN(len(n.localised))]; !n.given[line.DisplayName] {
				n.given[line.DisplayName] = true
				return line
			}
		}
		name := pick(n.rng, qualities) + pick(n.rng, creatures)
		if n.rng.IntN(2) == 0 {
			// There are more possible numbers than names given so far, so at least one is free.
			name += strconv.Itoa(n.rng.IntN(1000 + len(n.given)))
		}
		if !n.given[name] {
			n.given[name] = true
			return Line{Login: strings.ToLower(name), DisplayName: name}
		}
	}
}
