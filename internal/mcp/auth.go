package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
		token, err := kept.Client.TokenSource(limited, &oauth2.Token{RefreshToken: kept.Token.RefreshToken}).Token()
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

// Login signs the user in to a server over HTTP and says how many tools it then has. show gets the address that the user must open; it
// may open it in a browser. From pasted come lines; one may be the address that a browser elsewhere was sent back to.
func (o Options) Login(ctx context.Context, d Definition, show func(address string), pasted io.Reader) (tools int, err error) {
	s := newServer(o, d, newClient())
	if d, err = s.admit(ctx); err != nil {
		return 0, err
	}
	if d.URL == "" {
		return 0, fmt.Errorf("%s is a program of this machine; only servers over HTTP have a sign-in", d.Name)
	}
	back, err := listen(d.OAuth.CallbackPort)
	if err != nil {
		return 0, err
	}
	defer func() { _ = back.Close() }()
	go back.visit(s.http, pasted) // until its end
	ctx, stop := context.WithTimeout(ctx, loginLimit)
	defer stop()
	handler, err := o.authorizer(d, s.http, back, show)
	if err != nil {
		return 0, err
	}
	session, err := s.dial(ctx, d, handler, loginLimit)
	if err != nil && strings.Contains(err.Error(), "no configured client registration methods") {
		err = fmt.Errorf(`the sign-in server of %s registers no clients by itself: register one there by hand, with the redirect address http://127.0.0.1:PORT/callback, and put "oauth": {"clientId": "…", "callbackPort": PORT} into the definition`, d.Name)
	}
	if err != nil {
		return 0, err
	}
	defer link{session: session}.end()
	err = s.list(ctx, session)
	return len(s.state().Tools), err
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
			found = slices.Concat(found, old.Wanted, old.Client.Scopes)
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
			*r = signedIn{Client: cfg, Token: token}
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
		if at := challenge.Params["resource_metadata"]; at != "" {
			_, other := oauthex.GetProtectedResourceMetadata(ctx, at, req.URL.String(), c.http)
			_, another := oauthex.GetProtectedResourceMetadata(ctx, at, req.URL.Scheme+"://"+req.URL.Host, c.http)
			if other != nil && another != nil {
				resp.Body.Close()
				return fmt.Errorf("what %s says of the sign-in does not fit this server: %w", at, other)
			}
		}
	}
	return c.AuthorizationCodeHandler.Authorize(ctx, req, resp)
}

// callback waits on this machine for the browser to come back from a sign-in.
type callback struct {
	http.Server
	address string
	results chan url.Values
}

// listen takes a port, any free one if it is 0.
func listen(port int) (*callback, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("the browser's way back is not free: %w", err)
	}
	c := &callback{address: "http://" + l.Addr().String() + "/callback", results: make(chan url.Values, 1)}
	c.Handler, c.ReadHeaderTimeout = http.HandlerFunc(c.serve), 5*time.Second
	go func() { _ = c.Serve(l) }() // until Close
	return c, nil
}

// serve takes the first answer.
func (c *callback) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if r.URL.Path != "/callback" || q.Get("code") == "" && q.Get("error") == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "anchor has the answer. You can close this page.\n")
	select {
	case c.results <- q:
	default:
	}
}

// visit goes where a browser on another machine was sent and could not go: to the addresses that the user pastes.
func (c *callback) visit(client *http.Client, pasted io.Reader) {
	for in := bufio.NewScanner(pasted); in.Scan(); {
		if at := strings.TrimSpace(in.Text()); strings.HasPrefix(at, c.address+"?") {
			if resp, err := client.Get(at); err == nil {
				resp.Body.Close()
			}
		}
	}
}

// wait waits for the browser. The SDK compares the state.
func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case q := <-c.results:
		if q.Get("error") != "" {
			return nil, fmt.Errorf("the sign-in was refused: %s %s", q.Get("error"), q.Get("error_description"))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-ctx.Done():
		return nil, errors.New("nobody signed in in time")
	}
}
