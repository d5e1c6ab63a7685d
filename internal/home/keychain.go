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

// The desktop's keychain and its browser. Neither need be there: a machine without a desktop has none, and a locked keychain may ask a
// person who is not there, so nothing waits for it long.

// ErrNoKeychain says that there is no keychain, or that it gave no answer.
var ErrNoKeychain = errors.New("there is no keychain here")

// keychainLimit is how long the keychain may take: it may ask the user for a password.
const keychainLimit = 20 * time.Second

// Keychain is the user's keychain, for the secrets of one service. Desktop says whether there may be one.
type Keychain struct {
	Service string
	Desktop bool
}

// FindKeychain says where secrets go. On Linux there is a keychain only with a session bus; asking for one would start a bus.
func FindKeychain(service string, getenv func(string) string) Keychain {
	return Keychain{service, runtime.GOOS == "darwin" || runtime.GOOS == "windows" || getenv("DBUS_SESSION_BUS_ADDRESS") != ""}
}

// Get returns a secret, "" if there is none of that name.
func (k Keychain) Get(name string) (string, error) {
	return k.bounded(func() (string, error) { return keyring.Get(k.Service, name) })
}

// Set keeps a secret.
func (k Keychain) Set(name, value string) error {
	_, err := k.bounded(func() (string, error) { return "", keyring.Set(k.Service, name, value) })
	return err
}

// Remove forgets one. That there is none is no error.
func (k Keychain) Remove(name string) error {
	_, err := k.bounded(func() (string, error) { return "", keyring.Delete(k.Service, name) })
	return err
}

// bounded asks the keychain and leaves it if it does not answer.
func (k Keychain) bounded(ask func() (string, error)) (string, error) {
	if !k.Desktop {
		return "", ErrNoKeychain
	}
	value, done := make(chan string, 1), make(chan error, 1)
	go func() {
		v, err := ask()
		value <- v
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return "", fmt.Errorf("%w: %w", ErrNoKeychain, err)
		}
		return <-value, nil
	case <-time.After(keychainLimit):
		return "", fmt.Errorf("%w: it did not answer", ErrNoKeychain)
	}
}

// Browse opens an address in the user's browser, which goes on when anchor ends. Only https, and http on this machine, is opened.
func Browse(address string, getenv func(string) string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())) {
		return fmt.Errorf("%q is not opened: it is neither https nor on this machine", address)
	}
	words := []string{"xdg-open"}
	switch {
	case runtime.GOOS == "darwin":
		words = []string{"open"}
	case runtime.GOOS == "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "":
		return errors.New("there is no display")
	}
	cmd := exec.Command(words[0], append(words[1:], address)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
