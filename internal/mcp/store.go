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

// anchor's own files of trust and of sign-ins, in its state directory.
const (
	trustFile  = "mcp-trust.json"
	signInFile = "mcp-tokens.json"
	maxOwn     = 4 << 20          // bytes
	lockLimit  = 90 * time.Second // longer than a refresh of a token may take, with a keychain that hesitates
)

// read returns what one of these files holds, nothing if there is none.
func read[T any](o Options, name string) (map[string]T, error) {
	all, file := map[string]T{}, filepath.Join(o.State, name)
	if o.State == "" {
		return all, nil
	}
	data, err := home.Read(file, maxOwn)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be read, so it counts for nothing: %w", file, err)
	}
	return all, nil
}

// update changes one of these files while no other process does. It is written even if change fails.
func update[T any](ctx context.Context, o Options, name string, change func(map[string]T) error) error {
	if o.State == "" {
		return errors.New("there is no home directory to keep it in: set HOME")
	}
	file := filepath.Join(o.State, name)
	var unlock func() error
	var held bool
	var err error
	if !await(ctx, lockLimit, func() bool { unlock, held, err = home.Lock(file + ".lock"); return held || err != nil }) {
		return fmt.Errorf("%s is held by another anchor for too long", file)
	}
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	all, err := read[T](o, name)
	if err != nil {
		return err
	}
	return errors.Join(change(all), home.Write(file, encode(all)))
}

// signedIn is what is kept of a sign-in, by the server's address: the client that was registered, and its tokens. It is in the keychain,
// or in a file for the user alone where there is none, or where it refuses.
type signedIn struct {
	Client *oauth2.Config `json:"client"`
	Wanted []string       `json:"wanted,omitempty"` // scopes that the server asked for since
	Token  *oauth2.Token  `json:"token,omitempty"`
}

func (o Options) keychain() home.Keychain { return home.FindKeychain("anchor-mcp", o.Getenv) }

// signIn returns what is kept for an address; without a sign-in it has no token.
func (o Options) signIn(address string) (r signedIn, err error) {
	all, err := read[signedIn](o, signInFile)
	if err != nil {
		return r, err
	}
	r, inFile := all[address]
	if text := o.keychain().Get(address); !inFile && text != "" {
		err = json.Unmarshal([]byte(text), &r)
	}
	o.learn(address, r)
	return r, err
}

// updateSignIn changes what is kept for an address; without a client it is forgotten.
func (o Options) updateSignIn(ctx context.Context, address string, change func(*signedIn) error) error {
	return update(ctx, o, signInFile, func(all map[string]signedIn) error {
		r, err := o.signIn(address)
		if err != nil {
			return err
		}
		had := r.Client != nil
		err = change(&r)
		o.learn(address, r)
		delete(all, address)
		if r.Client == nil && had { // else it may be that the keychain did not answer
			_ = o.keychain().Set(address, "")
		} else if r.Client != nil && o.keychain().Set(address, string(encode(r))) != nil {
			all[address] = r
		}
		return err
	})
}

// learn teaches the masker the secrets of a sign-in.
func (o Options) learn(address string, r signedIn) {
	if r.Client != nil && r.Token != nil {
		o.Gate.Masker().Add("sign-in to "+address, r.Client.ClientSecret+"\n"+r.Token.AccessToken+"\n"+r.Token.RefreshToken)
	}
}
