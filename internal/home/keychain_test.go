package home

import (
	"errors"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestKeychain(t *testing.T) {
	keyring.MockInit()
	k := FindKeychain("anchor-test", func(string) string { return "unix:path=/run/bus" })
	if err := k.Set("server", "token"); err != nil || k.Get("server") != "token" || k.Get("other") != "" {
		t.Error(err, k.Get("server"), k.Get("other"))
	}
	if err := k.Set("server", ""); err != nil || k.Get("server") != "" {
		t.Error("it was not forgotten", err)
	}
	keyring.MockInitWithError(errors.New("locked"))
	if err := k.Set("server", "token"); err == nil || k.Get("server") != "" {
		t.Error("a keychain that refuses kept a secret")
	}
	if err := (Keychain{}).Set("server", "token"); err == nil {
		t.Error("where there is no keychain a secret was kept")
	}
}
