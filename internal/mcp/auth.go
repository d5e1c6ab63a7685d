package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
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

const (
	refreshLimit = 20 * time.Second // for one refresh of a token
	loginLimit   = 5 * time.Minute  // for the user to sign in
)

// keeper gives a session's requests the tokens that are kept, and renews them. It never opens a browser. Servers may give a new refresh
// token each time and take the old one back, so a token is renewed under a lock, and is on disk before it is used.
type keeper struct {
	o       Options
	address string
	http    *http.Client
}

// kept is what authorizes the requests to a server. A definition with its own Authorization header needs nothing.
func (s *server) kept(d Definition) auth.OAuthHandler {
	for name := range d.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	return keeper{s.o, d.URL, s.http}
}

// TokenSource is asked before each request. Without a sign-in there is none.
func (k keeper) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	r, err := k.o.signIn(k.address)
	if err == nil && r.Token != nil && !r.Token.Valid() {
		r, err = k.renew(ctx, r.Token.AccessToken)
	}
	if err != nil || r.Token == nil {
		return nil, err
	}
	return oauth2.StaticTokenSource(r.Token), nil
}

// Authorize is asked when a server refused a request: a token that it does not take any more is renewed once. Scopes that it wants are
// noted for the next sign-in.
func (k keeper) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		_, err := k.renew(ctx, strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "))
		return err
	}
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	for _, c := range challenges {
		if scope := c.Params["scope"]; c.Params["error"] == "insufficient_scope" {
			return k.o.updateSignIn(ctx, k.address, func(r *signedIn) error {
				r.Wanted = strings.Fields(scope)
				return fmt.Errorf("%w again: the server wants more rights (%s)", errSignIn, scope)
			})
		}
	}
	return errors.Join(errors.New("the server forbids it (403)"), err)
}

// renew renews the token unless somebody else did since it was used.
func (k keeper) renew(ctx context.Context, used string) (r signedIn, err error) {
	err = k.o.updateSignIn(ctx, k.address, func(kept *signedIn) error {
		defer func() { r = *kept }()
		switch t := kept.Token; {
		case t != nil && t.AccessToken != used && t.Valid():
			return nil
		case t == nil || t.RefreshToken == "":
			return errSignIn
		}
		limited, stop := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, k.http), refreshLimit)
		defer stop()
		client := oauth2.Config{ClientID: kept.ClientID, ClientSecret: kept.ClientSecret, Scopes: kept.Scopes,
			Endpoint: oauth2.Endpoint{TokenURL: kept.TokenURL, AuthStyle: kept.AuthStyle}}
		token, err := client.TokenSource(limited, &oauth2.Token{RefreshToken: kept.Token.RefreshToken}).Token()
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) && (refused.ErrorCode == "invalid_grant" || refused.ErrorCode == "invalid_client") {
			kept.Token = nil
			return fmt.Errorf("%w again: the server does not renew it (%s)", errSignIn, refused.ErrorCode)
		}
		if err != nil {
			return fmt.Errorf("the sign-in could not be renewed: %w", err)
		}
		kept.Token = token
		return nil
	})
	return r, err
}

// Logout forgets the sign-in to a server.
func (o Options) Logout(ctx context.Context, d Definition) error {
	d, err := d.expand(o.Getenv)
	if err != nil {
		return err
	}
	return o.updateSignIn(ctx, d.URL, func(r *signedIn) error {
		*r = signedIn{}
		return nil
	})
}

// Login signs the user in to a server over HTTP and returns the tools it then has. show gets the address that the user must open; it
// may open it in a browser. From pasted come lines; one may be the address that a browser elsewhere was sent back to.
func (o Options) Login(ctx context.Context, d Definition, show func(address string), pasted io.Reader) ([]string, error) {
	s := newServer(o, d, "s", newClient())
	d, err := s.admit(ctx)
	if err != nil {
		return nil, err
	}
	if d.URL == "" {
		return nil, fmt.Errorf("%s is a program of this machine; only servers over HTTP have a sign-in", d.Name)
	}
	back, err := listen(d.OAuth.CallbackPort)
	if err != nil {
		return nil, err
	}
	defer back.Close()
	go back.visit(s.http, pasted) // until its end
	ctx, stop := context.WithTimeout(ctx, loginLimit)
	defer stop()
	handler, err := o.authorizer(d, s.http, back, show)
	if err != nil {
		return nil, err
	}
	session, err := s.dial(ctx, d, handler, loginLimit)
	if err != nil && strings.Contains(err.Error(), "no configured client registration methods") {
		err = fmt.Errorf(`the sign-in server of %s registers no clients by itself: register one there by hand, with the redirect address http://127.0.0.1:PORT/callback, and put "oauth": {"clientId": "…", "callbackPort": PORT} into the definition`, d.Name)
	}
	if err != nil {
		return nil, err
	}
	defer link{session: session}.end()
	err = s.list(ctx, session)
	return s.state().Tools, err
}

// authorizer is the SDK's way through the sign-in: discovery, registration, PKCE, the browser, the exchange.
func (o Options) authorizer(d Definition, client *http.Client, back *callback, show func(string)) (auth.OAuthHandler, error) {
	old, err := o.signIn(d.URL)
	if err != nil {
		return nil, err
	}
	c := &auth.AuthorizationCodeHandlerConfig{RedirectURL: back.address, RequestRefreshToken: true, Client: client, AcceptUnadvertisedIss: true}
	if id := d.OAuth.ClientID; strings.HasPrefix(id, "https://") {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: id}
	} else if id != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
		if d.OAuth.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: d.OAuth.ClientSecret}
		}
	}
	if c.PreregisteredClient == nil {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "anchor", RedirectURIs: []string{back.address}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}}}
	}
	if len(old.Wanted) > 0 {
		c.ScopeFilter = func(found []string) []string {
			found = slices.Concat(found, old.Wanted, old.Scopes)
			slices.Sort(found)
			return slices.Compact(found)
		}
	}
	c.AuthorizationCodeFetcher = func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		show(args.URL)
		return back.wait(ctx)
	}
	c.NewTokenSource = func(ctx context.Context, cfg *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
		return oauth2.StaticTokenSource(token), o.updateSignIn(ctx, d.URL, func(r *signedIn) error {
			*r = signedIn{ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.Endpoint.TokenURL,
				AuthStyle: cfg.Endpoint.AuthStyle, Scopes: cfg.Scopes, Token: token}
			return nil
		})
	}
	h, err := auth.NewAuthorizationCodeHandler(c)
	return careful{h, client}, err
}

// careful refuses metadata that are of another resource, where the SDK would go on as if there were none.
type careful struct {
	*auth.AuthorizationCodeHandler
	http *http.Client
}

// Authorize signs in. Metadata may be of the address itself, or of its host.
func (c careful) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	challenges, _ := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate")) // the SDK tells of the error
	for _, challenge := range challenges {
		at := challenge.Params["resource_metadata"]
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
