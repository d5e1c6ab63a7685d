package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

var errSignIn = errors.New("sign in")

func (s *server) handler(context.Context, Definition) (auth.OAuthHandler, error) { return nil, nil }
