package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is the longest request that is read, in bytes. A longer line is skipped whole and is one error.
const maxLine = 32 << 20

// The requests.
const (
	userInput        = "user_input"
	approvalResponse = "approval_response"
	questionResponse = "question_response"
	cancelRequest    = "cancel"
)

// request is the fields of a request, empty if they are missing or no strings. A long text is decoded once.
type request struct{ kind, id, text, answer, reason string }

// parse reads a request of a known type that has the field it needs. The error is for the client. Keys match exactly, unlike those of
// a struct in encoding/json.
func parse(line []byte) (r request, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		if json.Valid(line) {
			return r, errors.New(`a request is a JSON object, such as {"type":"user_input","text":"…"}`)
		}
		return r, fmt.Errorf("not valid JSON: %w", err)
	}
	for key, to := range map[string]*string{"type": &r.kind, "id": &r.id, "text": &r.text, "answer": &r.answer, "reason": &r.reason} {
		if raw := fields[key]; len(raw) > 0 && raw[0] == '"' {
			_ = json.Unmarshal(raw, to) // a valid string
		}
	}
	switch r.kind {
	case userInput:
		if strings.TrimSpace(r.text) == "" {
			err = errors.New(`user_input needs "text", a string that is not blank`)
		}
	case approvalResponse, questionResponse:
		if r.id == "" {
			err = fmt.Errorf(`%s needs "id", the id of what it answers`, r.kind)
		}
	case cancelRequest:
	case "":
		err = errors.New(`a request needs "type": user_input, approval_response, question_response or cancel`)
	default:
		err = fmt.Errorf("unknown type %q; known are user_input, approval_response, question_response, cancel", r.kind)
	}
	return r, err
}

// message is a request, or why a line is none.
type message struct {
	request
	err error
}

// read hands on what the lines of in say until it or ctx ends, then closes to. Blank lines say nothing. A last line without an
// end may be half of one: nothing is done with it.
func read(ctx context.Context, in io.Reader, to chan<- message) {
	defer close(to)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		var m message
		switch {
		case errors.Is(err, io.EOF) && len(line) > 0:
			m.err = errors.New("the input ended in the middle of a line; nothing was done with it")
		case err != nil:
			return
		case len(line) > maxLine:
			m.err = fmt.Errorf("the line is over %d MB", maxLine>>20)
		case len(line) == 0:
			continue
		default:
			m.request, m.err = parse(line)
		}
		select {
		case to <- m:
		case <-ctx.Done():
			return
		}
	}
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
