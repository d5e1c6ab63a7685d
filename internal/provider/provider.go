// Package provider is the contract between the turn loop and a model's wire: one streaming request, errors by kind, and
// retry as a wrapper over both. [Client] is what all wires have in common; each wire is a package below this one.
package provider

import (
	"context"

	"anchor/internal/msg"
)

// Provider asks a model. One value serves one conversation: it may keep what it encoded for the messages of the last
// request, by their address. Calls are made one after the other.
type Provider interface {
	// Stream sends req, shows the reply as it comes, and returns it whole. Errors are *[Error], or the context's error if
	// that was cancelled. Every wait in it is bounded and hears ctx.
	Stream(ctx context.Context, req Request, show func(Chunk)) (Done, error)
}

// Request is one model request. Messages are valid as the agent's check leaves them: they start with a user message or a
// summary, each call has one result directly after its reply, ids are unique, no text is blank, thinking is signed and the model's own.
type Request struct {
	Model    string
	System   string
	Tools    []msg.Spec
	Messages []msg.Message
	// MaxTokens bounds the reply. Zero: [Endpoint.MaxTokens].
	MaxTokens int
	// Effort is the thinking effort: "" (the model's default), "off", "low", "medium" or "high".
	Effort string
	// NoCalls forbids tool calls in this reply while the tool definitions stay for the cache's sake.
	NoCalls bool
}

// Chunk is what comes of a reply: TextDelta, ThinkingDelta or Retrying.
type Chunk interface{ chunk() }

// TextDelta is a piece of the answer: valid UTF-8, never empty.
type TextDelta struct{ Text string }

// ThinkingDelta is a piece of the model's thinking.
type ThinkingDelta struct{ Text string }

// Retrying says that the request is about to be made again. Message is for the user: the cause and the wait. Void is true
// if chunks had come before: they are not part of the reply.
type Retrying struct {
	Message string
	Void    bool
}

// Done is a whole reply.
type Done struct {
	Reply *msg.Assistant
	Stop  Stop
	Usage Usage
}

// Usage is what the provider counted for one request. Input counts all prompt tokens, Cached the part of them read from
// the cache. Known is false if the provider sent no numbers.
type Usage struct {
	Input, Output, Cached int
	Known                 bool
}

// Stop says why a reply ended.
type Stop uint8

// The reasons. StopLength: cut at the output limit; calls in such a reply may be incomplete and must not run. StopPause:
// send the reply back and go on. StopWindow: the context window is full.
const (
	StopEnd Stop = iota
	StopTools
	StopLength
	StopPause
	StopRefusal
	StopWindow
)

func (TextDelta) chunk()     {}
func (ThinkingDelta) chunk() {}
func (Retrying) chunk()      {}
