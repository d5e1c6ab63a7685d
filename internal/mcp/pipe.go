package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anchor/internal/gate"
)

// maxMessage bounds one message of a server, in bytes.
const maxMessage = 32 << 20

// pipe is the connection to a server over its standard input and output: one message a line. Lines that are none are skipped, since
// many servers print banners.
type pipe struct {
	gate.Server
	in *bufio.Reader

	mu sync.Mutex // one message is written at a time
}

func newPipe(s gate.Server) *pipe { return &pipe{Server: s, in: bufio.NewReaderSize(s, 64<<10)} }

// Connect makes it a transport of the SDK.
func (p *pipe) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID is empty: there are none over pipes.
func (p *pipe) SessionID() string { return "" }

// Read returns the next message. Close ends it.
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := readLine(p.in)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
			continue
		}
		if m, err := jsonrpc.DecodeMessage(mend(line)); err == nil {
			return m, nil
		}
	}
}

var errTooLong = fmt.Errorf("it sent a message of over %d MB", maxMessage>>20)

// readLine reads one line, of whatever kind, with its end.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxMessage {
			return nil, errTooLong
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, io.EOF // the pipe was closed here, or there
		}
	}
}

// Write sends a message.
func (p *pipe) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = p.Server.Write(append(data, '\n'))
	return err
}
