package auth

import "testing"

// Nobody can imitate another: different people have different author names, whatever they are
// called.
func TestIdentity_AuthorsDiffer(t *testing.T) {
	seen := map[string]Identity{}
	for _, name := range []string{"owner", "anna", "token:anna", "twitch:anna", "link:owner", "owner:", "", ":", "chatguard"} {
		for _, origin := range []Origin{FromLink, FromToken, FromTwitch, FromSite} {
			who := Identity{Name: name, Access: Moderate, From: origin}
			if other, known := seen[who.Author()]; known || who.Author() == OwnerName {
				t.Errorf("%+v and %+v are both %s", who, other, who.Author())
			}
			seen[who.Author()] = who
		}
	}
	for want, who := range map[string]Identity{
		"owner":       {Name: OwnerName, Access: Own, From: FromOwner},
		"token:anna":  {Name: "anna", Access: Own, From: FromToken},
		"link:owner":  {Name: OwnerName, Access: Moderate, From: FromLink},
		"twitch:anna": {Name: "anna", Access: View, From: FromTwitch},
	} {
		if who.Author() != want {
			t.Errorf("%+v is %s, want %s", who, who.Author(), want)
		}
	}
	if link := (Identity{Name: OwnerName, Access: Own, From: FromLink}); link.Author() != OwnerName {
		t.Errorf("the owner's link is %s", link.Author())
	}
}

func TestIdentity_In(t *testing.T) {
	everywhere := Identity{Access: Moderate}
	if everywhere.In("1") != Moderate {
		t.Error(everywhere.In("1"))
	}
	some := Identity{Access: Own, Channels: map[string]Access{"1": Own, "2": View}}
	if some.In("1") != Own || some.In("2") != View || some.In("3") != Any || some.In("") != Any {
		t.Errorf("%q %q %q", some.In("1"), some.In("2"), some.In("3"))
	}
	if none := (Identity{Access: Own, Channels: map[string]Access{}}); none.In("1") != Any {
		t.Error("rights in a channel that is not in an empty map")
	}
}

func TestCheckTokenName(t *testing.T) {
	for name, ok := range map[string]bool{
		"anna": true, "game server": true, "tokens": true, "annatoken:": true, "Ünal": true,
		"": false, "owner": false, "token:x": false, "twitch:anna": false, "link:a": false, "owner:a": false, "site:a": false,
		"a\nb": false, "a\x1b[2Jb": false, "a\u202eb": false,
	} {
		if err := CheckTokenName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
