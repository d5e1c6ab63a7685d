package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

// maxLine is the longest line that is taken, in bytes: a longer one would end the SDK's reading.
const maxLine = 10<<20 - 2

// writer is standard output. Once the response that names a new session is written, the session's updates may follow.
type writer struct {
	s    *Server
	out  io.Writer
	gone func(error)
	mu   sync.Mutex // the SDK has a lock of its own, which complain can't take
}

func (w *writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(line)
	if err != nil {
		w.gone(err)
		return n, err
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	for id, t := range w.s.waiting {
		if bytes.Contains(line, []byte(`"sessionId":"`+id+`"`)) {
			delete(w.s.waiting, id)
			if w.s.ctx.Err() == nil {
				w.s.work.Go(t.release) // not here: it writes too
			}
		}
	}
	return n, nil
}

// pump hands the lines of in to the SDK and closes to at their end. It answers what the SDK would drop in silence, and lets a prompt
// begin before it reads on: the SDK keeps no order between a prompt and the cancel that follows.
func (s *Server) pump(in io.Reader, to *io.PipeWriter) {
	defer func() { _ = to.Close() }() // it never fails
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		var head struct {
			Method            string
			ID, Result, Error json.RawMessage
		}
		var other *json.UnmarshalTypeError // JSON, but no message
		switch fault := json.Unmarshal(line, &head); {
		case len(line) == 0:
		case len(line) > maxLine:
			s.complain(nil, sdk.NewInvalidRequest(map[string]any{"error": "the message is over 10 MB"}))
		case fault != nil && !errors.As(fault, &other):
			s.complain(nil, sdk.NewParseError(map[string]any{"error": fault.Error()}))
		case fault != nil, head.Method == "" && head.Result == nil && head.Error == nil:
			s.complain(head.ID, sdk.NewInvalidRequest(map[string]any{"error": "this is no request, notification or response of JSON-RPC 2.0"}))
		default:
			select {
			case <-s.prompted:
			default:
			}
			if _, closed := to.Write(append(line, '\n')); closed != nil {
				return
			}
			if head.Method == sdk.AgentMethodSessionPrompt {
				select {
				case <-s.prompted:
				case <-time.After(time.Second): // it was no valid one
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// complain answers a message that the SDK would not; id is nil where it has none.
func (s *Server) complain(id json.RawMessage, fault *sdk.RequestError) {
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": fault})
	_, _ = s.out.Write(append(line, '\n'))
}

// readLine returns the next line without the blanks around it, or of one over maxLine more than that.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		var part []byte
		if part, err = r.ReadSlice('\n'); len(line) <= maxLine {
			line = append(line, part...)
		}
	}
	return bytes.TrimSpace(line), err
}
