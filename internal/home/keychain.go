package home

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/zalando/go-keyring"
)

// keychainLimit is how long the keychain may take: it may ask for a password, and nobody may be there.
const keychainLimit = 20 * time.Second

// Keychain is the user's keychain, for the secrets of one service. Where there is none, nothing is asked.
type Keychain struct {
	Service string
	There   bool
}

// FindKeychain says where secrets go. On Linux there is a keychain only with a session bus; asking for one would start a bus.
func FindKeychain(service string, getenv func(string) string) Keychain {
	return Keychain{service, runtime.GOOS == "darwin" || runtime.GOOS == "windows" || getenv("DBUS_SESSION_BUS_ADDRESS") != ""}
}

// Get returns a secret, "" if it can't be had.
func (k Keychain) Get(name string) string {
	value, _ := k.ask(func() (string, error) { return keyring.Get(k.Service, name) })
	return value
}

// Set keeps a secret, or forgets it if it is "".
func (k Keychain) Set(name, value string) error {
	_, err := k.ask(func() (string, error) {
		if value == "" {
			return "", keyring.Delete(k.Service, name)
		}
		return "", keyring.Set(k.Service, name, value)
	})
	return err
}

// ask asks the keychain and leaves it if it does not answer.
func (k Keychain) ask(do func() (string, error)) (value string, err error) {
	if !k.There {
		return "", errors.New("there is no keychain here")
	}
	answer := make(chan func() (string, error), 1)
	go func() {
		value, err := do()
		answer <- func() (string, error) { return value, err }
	}()
	select {
	case get := <-answer:
		return get()
	case <-time.After(keychainLimit):
		return "", errors.New("the keychain did not answer")
	}
}

// Browse opens an address in the user's browser, which goes on when anchor ends. Only https, and http on this machine, is opened.
func Browse(address string, getenv func(string) string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())) {
		return fmt.Errorf("%q is not opened: it is neither https nor on this machine", address)
	}
	words := []string{"xdg-open", address}
	switch {
	case runtime.GOOS == "darwin":
		words[0] = "open"
	case runtime.GOOS == "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	case getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "":
		return errors.New("there is no display")
	}
	cmd := exec.Command(words[0], words[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
