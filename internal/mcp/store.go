package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/oauth2"

	"anchor/internal/home"
)

// signedIn is what is kept of a sign-in, by the server's address: the client that was registered, and its tokens.
type signedIn struct {
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"`
	AuthURL      string           `json:"authUrl"`
	TokenURL     string           `json:"tokenUrl"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle"`
	RedirectURL  string           `json:"redirectUrl"`
	Scopes       []string         `json:"scopes,omitempty"`
	Wanted       []string         `json:"wanted,omitempty"` // scopes that the server asked for since
	Token        *oauth2.Token    `json:"token,omitempty"`
}

func (r *signedIn) config() *oauth2.Config {
	return &oauth2.Config{ClientID: r.ClientID, ClientSecret: r.ClientSecret, RedirectURL: r.RedirectURL, Scopes: r.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: r.AuthURL, TokenURL: r.TokenURL, AuthStyle: r.AuthStyle}}
}

// store keeps sign-ins in the keychain, or in a file for the user alone where there is none, or where it refuses.
type store struct {
	o     Options
	chain home.Keychain
}

func (o Options) store() store { return store{o, home.FindKeychain("anchor-mcp", o.Getenv)} }

func (s store) file() string { return filepath.Join(s.o.State, "mcp-tokens.json") }

func (s store) inFile() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if s.o.State == "" {
		return out, nil
	}
	data, err := home.Read(s.file(), maxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be read: %w", s.file(), err)
	}
	return out, nil
}

// load returns what is kept for an address, nil if there is nothing.
func (s store) load(address string) (*signedIn, error) {
	all, err := s.inFile()
	if err != nil {
		return nil, err
	}
	raw := all[address]
	if raw == nil {
		text, err := s.chain.Get(address)
		if err != nil || text == "" {
			return nil, nil
		}
		raw = json.RawMessage(text)
	}
	out := &signedIn{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("what is kept of the sign-in to %s can't be read: %w", address, err)
	}
	s.learn(address, out)
	return out, nil
}

// learn teaches the masker the secrets of a sign-in.
func (s store) learn(address string, r *signedIn) {
	m, name := s.o.Gate.Masker(), "sign-in to "+address
	m.Add(name, r.ClientSecret)
	if r.Token != nil {
		m.Add(name, r.Token.AccessToken)
		m.Add(name, r.Token.RefreshToken)
	}
}

// save keeps a sign-in, nil forgets it. Call it with the lock.
func (s store) save(address string, r *signedIn) error {
	all, err := s.inFile()
	if err != nil {
		return err
	}
	_, had := all[address]
	delete(all, address)
	kept := s.chain.Remove
	if r != nil {
		s.learn(address, r)
		kept = func(name string) error { return s.chain.Set(name, string(encode(r))) }
	}
	if kept(address) != nil && r != nil {
		all[address] = encode(r)
		had = true
	}
	if !had {
		return nil
	}
	if s.o.State == "" {
		return errors.New("there is no home directory to keep the sign-in in: set HOME")
	}
	return home.Write(s.file(), encode(all))
}

// locked does something to a file while no other process does, and waits a while for that.
func (o Options) locked(ctx context.Context, file string, do func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(lockLimit); ; {
		unlock, held, err := home.Lock(file + ".lock")
		if err != nil {
			return err
		}
		if held {
			defer func() { _ = unlock() }()
			return do()
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s is held by another anchor for over %v", file, lockLimit)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lockLimit is longer than a refresh of a token may take.
const lockLimit = 30 * time.Second
