package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// errSignIn says that only the user can go on, in a browser.
var errSignIn = errors.New("you must sign in")

// refreshLimit bounds one refresh of a token.
const refreshLimit = 20 * time.Second

// keeper gives a session's requests the tokens that are kept, and renews them. It never opens a browser. Servers may give a new refresh
// token each time and take the old one back, so a token is renewed under a lock, and is on disk before it is used.
type keeper struct {
	store   store
	address string
	http    *http.Client
}

// TokenSource is asked before each request. Without a sign-in there is none.
func (k *keeper) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	r, err := k.store.load(k.address)
	if err != nil || r == nil || r.Token == nil {
		return nil, err
	}
	if !r.Token.Valid() {
		if r, err = k.renew(ctx, r.Token.AccessToken); err != nil {
			return nil, err
		}
	}
	return oauth2.StaticTokenSource(r.Token), nil
}

// Authorize is asked when a server refused a request: a token that it does not take any more is renewed once.
func (k *keeper) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	used := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if resp.StatusCode == http.StatusForbidden {
		return k.more(ctx, resp)
	}
	if used == "" {
		return errSignIn
	}
	_, err := k.renew(ctx, used)
	return err
}

// more notes the scopes that a server wants, for the next sign-in.
func (k *keeper) more(ctx context.Context, resp *http.Response) error {
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	for _, c := range challenges {
		if c.Params["error"] != "insufficient_scope" {
			continue
		}
		err := k.store.o.locked(ctx, k.store.file(), func() error {
			r, err := k.store.load(k.address)
			if err != nil || r == nil {
				return err
			}
			r.Wanted = strings.Fields(c.Params["scope"])
			return k.store.save(k.address, r)
		})
		return errors.Join(fmt.Errorf("%w again: the server wants more rights (%s)", errSignIn, c.Params["scope"]), err)
	}
	return errors.Join(errors.New("the server forbids it (403)"), err)
}

// renew renews the token unless somebody else did since it was used.
func (k *keeper) renew(ctx context.Context, used string) (r *signedIn, err error) {
	err = k.store.o.locked(ctx, k.store.file(), func() error {
		if r, err = k.store.load(k.address); err != nil {
			return err
		}
		if r == nil || r.Token == nil {
			return errSignIn
		}
		if r.Token.AccessToken != used && r.Token.Valid() {
			return nil
		}
		if r.Token.RefreshToken == "" {
			return errSignIn
		}
		limited, stop := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, k.http), refreshLimit)
		defer stop()
		token, err := r.config().TokenSource(limited, &oauth2.Token{RefreshToken: r.Token.RefreshToken}).Token()
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) && (refused.ErrorCode == "invalid_grant" || refused.ErrorCode == "invalid_client") {
			r.Token = nil
			return errors.Join(fmt.Errorf("%w again: the server does not renew it (%s)", errSignIn, refused.ErrorCode), k.store.save(k.address, r))
		}
		if err != nil {
			return fmt.Errorf("the sign-in could not be renewed: %w", err)
		}
		r.Token = token
		return k.store.save(k.address, r)
	})
	return r, err
}

// handler is what authorizes the requests to a server. A definition with its own Authorization header needs none.
func (s *server) handler(_ context.Context, d Definition) (auth.OAuthHandler, error) {
	if s.login != nil {
		return s.login, nil
	}
	for name := range d.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil, nil
		}
	}
	return &keeper{s.o.store(), d.URL, s.http}, nil
}

// Logout forgets the sign-in to a server.
func (o Options) Logout(ctx context.Context, d Definition) error {
	d, err := d.expand(o.Getenv)
	if err != nil {
		return err
	}
	return o.locked(ctx, o.store().file(), func() error { return o.store().save(d.URL, nil) })
}

// Login signs the user in to a server over HTTP and returns the tools it then has. show gets the address that the user must open; it
// may open it in a browser.
func (o Options) Login(ctx context.Context, d Definition, show func(address string)) ([]string, error) {
	if trusted, err := o.Trusted(ctx, d); !trusted {
		return nil, errors.Join(err, fmt.Errorf("the project's server %s is not trusted; look at it first with `anchor mcp trust %s`", d.Name, d.Name))
	}
	d, err := d.expand(o.Getenv)
	if err = errors.Join(d.Fault, err); err != nil {
		return nil, err
	}
	if d.Type != "http" {
		return nil, fmt.Errorf("%s is a program of this machine; only servers over HTTP have a sign-in", d.Name)
	}
	back, err := o.listen(d)
	if err != nil {
		return nil, err
	}
	defer back.close()
	s := newServer(o, d, "s", newTransport())
	if s.login, err = o.authorizer(d, s.http, back, show); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, loginLimit)
	defer stop()
	session, err := s.dial(ctx, d)
	if err != nil && strings.Contains(err.Error(), "no configured client registration methods") {
		err = fmt.Errorf(`the sign-in server of %s registers no clients by itself: register one there by hand, with the redirect address http://127.0.0.1:PORT/callback, and put "oauth": {"clientId": "…", "callbackPort": PORT} into the definition`, d.Name)
	}
	if err != nil {
		return nil, err
	}
	defer link{session: session}.end()
	if err := s.list(ctx, session); err != nil {
		return nil, err
	}
	return s.state().Tools, nil
}

// authorizer is the SDK's way through the sign-in: discovery, registration, PKCE, the browser, the exchange.
func (o Options) authorizer(d Definition, client *http.Client, back *callback, show func(string)) (auth.OAuthHandler, error) {
	store := o.store()
	old, err := store.load(d.URL)
	if err != nil {
		return nil, err
	}
	c := &auth.AuthorizationCodeHandlerConfig{RedirectURL: back.address, RequestRefreshToken: true, Client: client, AcceptUnadvertisedIss: true}
	switch {
	case d.OAuth.ClientID != "":
		c.PreregisteredClient = credentials(d.OAuth.ClientID, d.OAuth.ClientSecret)
	case old != nil && old.RedirectURL == back.address:
		c.PreregisteredClient = credentials(old.ClientID, old.ClientSecret)
	default:
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "anchor", RedirectURIs: []string{back.address}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}}}
	}
	if old != nil {
		c.ScopeFilter = func(found []string) []string {
			out := slices.Concat(found, old.Wanted)
			if len(old.Wanted) > 0 {
				out = append(out, old.Scopes...)
			}
			slices.Sort(out)
			return slices.Compact(out)
		}
	}
	c.AuthorizationCodeFetcher = func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		show(args.URL)
		return back.wait(ctx)
	}
	c.NewTokenSource = func(ctx context.Context, cfg *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
		r := &signedIn{ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, AuthURL: cfg.Endpoint.AuthURL, TokenURL: cfg.Endpoint.TokenURL,
			AuthStyle: cfg.Endpoint.AuthStyle, RedirectURL: cfg.RedirectURL, Scopes: cfg.Scopes, Token: token}
		err := o.locked(ctx, store.file(), func() error { return store.save(d.URL, r) })
		return oauth2.StaticTokenSource(token), err
	}
	h, err := auth.NewAuthorizationCodeHandler(c)
	return &careful{h, client}, err
}

// careful refuses metadata that are of another resource, where the SDK would go on as if there were none.
type careful struct {
	*auth.AuthorizationCodeHandler
	http *http.Client
}

// Authorize signs in. Metadata may be of the address itself, or of its host.
func (c *careful) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	challenges, _ := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate")) // the SDK tells of the error
	for _, ch := range challenges {
		at := ch.Params["resource_metadata"]
		if at == "" {
			continue
		}
		_, err := oauthex.GetProtectedResourceMetadata(ctx, at, req.URL.String(), c.http)
		if err != nil {
			_, err = oauthex.GetProtectedResourceMetadata(ctx, at, req.URL.Scheme+"://"+req.URL.Host, c.http)
		}
		if err != nil {
			resp.Body.Close()
			return fmt.Errorf("what %s says of the sign-in does not fit this server: %w", at, err)
		}
	}
	return c.AuthorizationCodeHandler.Authorize(ctx, req, resp)
}

func credentials(id, secret string) *oauthex.ClientCredentials {
	out := &oauthex.ClientCredentials{ClientID: id}
	if secret != "" {
		out.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
	}
	return out
}
