package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is the longest request that is read, in bytes. A longer line is skipped whole and is one error.
const maxLine = 32 << 20

var errTooLong = fmt.Errorf("the line is over %d MB", maxLine>>20)

// readLine returns the next line without its end (LF or CRLF). A last line without an end is a fault: it may be half of
// one. After errTooLong the next line can be read.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case long:
			return nil, errTooLong
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
	}
}

// The requests.
const (
	userInput        = "user_input"
	approvalResponse = "approval_response"
	questionResponse = "question_response"
	cancelRequest    = "cancel"
)

// request is the fields of a request. Keys match exactly, unlike those of a struct in encoding/json.
type request map[string]json.RawMessage

// word returns a field that is a string, empty if it is missing or something else.
func (r request) word(key string) string {
	var s string
	if json.Unmarshal(r[key], &s) != nil {
		return ""
	}
	return s
}

// parse reads a request of a known type that has the field it needs. The error is for the client.
func parse(line []byte) (request, error) {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		if json.Valid(line) {
			return nil, errors.New(`a request is a JSON object, such as {"type":"user_input","text":"…"}`)
		}
		return nil, fmt.Errorf("not valid JSON: %v", err)
	}
	switch kind := r.word("type"); kind {
	case userInput:
		if strings.TrimSpace(r.word("text")) == "" {
			return nil, errors.New(`user_input needs "text", a string that is not blank`)
		}
	case approvalResponse, questionResponse:
		if r.word("id") == "" {
			return nil, fmt.Errorf(`%s needs "id", the id of what it answers`, kind)
		}
	case cancelRequest:
	case "":
		return nil, errors.New(`a request needs "type": user_input, approval_response, question_response or cancel`)
	default:
		return nil, fmt.Errorf("unknown type %q; known are user_input, approval_response, question_response, cancel", kind)
	}
	return r, nil
}
