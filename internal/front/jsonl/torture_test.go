package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// TestTorture lets a client do anything in any order, until it goes away at any moment: every line that comes is one whole
// object by the schema, ready comes at the start and after each turn and no more, and all ends. ANCHOR_TORTURE=1m prolongs it.
func TestTorture(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("ANCHOR_TORTURE"))
	if err != nil {
		length = 2 * time.Second
	}
	r, err := schema(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	sessions := 0
	for end := time.Now().Add(length); time.Now().Before(end); sessions++ {
		seed := rand.Uint64()
		if err := misuse(t, rand.New(rand.NewPCG(seed, 0)), r.Validate); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Log(sessions, "sessions")
}

// misuse is one session of such a client.
func misuse(t *testing.T, dice *rand.Rand, valid func(any) error) error {
	c := start(t)
	read := make(chan error, 1)
	go func() { read <- judge(c, valid) }()
	for range dice.IntN(60) {
		if _, err := c.in.Write([]byte(anything(dice))); err != nil {
			break // its context has ended
		}
	}
	if dice.IntN(4) == 0 {
		c.stop(nil)
	}
	c.in.Close()
	select {
	case err := <-c.ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	case <-time.After(20 * time.Second):
		return fmt.Errorf("it does not end")
	}
	return <-read
}

// judge reads until the end. The first ready was read already.
func judge(c *client, valid func(any) error) error {
	ready, ends := 1, 0
	for {
		line, err := c.out.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		var v map[string]any
		if fault := json.Unmarshal(bytes.TrimSuffix(line, []byte("\n")), &v); err != nil || fault != nil {
			return fmt.Errorf("no whole line of JSON: %q", line)
		}
		if err := valid(v); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		switch v["type"] {
		case "ready":
			ready++
		case "turn_end":
			ends++
		}
		if ready > ends+1 {
			return fmt.Errorf("ready without a turn: %s", line)
		}
	}
	if ends > ready {
		return fmt.Errorf("%d turns ended, but ready came %d times", ends, ready)
	}
	return nil
}

// anything is a line that a client may write, or a piece of one.
func anything(dice *rand.Rand) string {
	pick := func(list ...string) string { return list[dice.IntN(len(list))] }
	id := func(letter string) string { return fmt.Sprint(letter, 1+dice.IntN(12)) }
	switch dice.IntN(10) {
	case 0, 1, 2:
		return input(pick("approve", "plain", "two", "ask", "ask other", "wait", "x", strings.Repeat("\u20ac", 50_000))) + "\n"
	case 3, 4:
		return fmt.Sprintf(`{"type":"approval_response","id":%q,"answer":%q}`, id("a"), pick("yes", "no", "always", "maybe")) + "\n"
	case 5:
		return fmt.Sprintf(`{"type":"question_response","id":%q,"answer":%q}`, id("q"), pick("x", "z", "")) + "\n"
	case 6:
		return `{"type":"cancel"}` + pick("\n", "\r\n", "\n\n")
	case 7:
		return pick("", " ", "{", "[]", "null", "\xff\x00", `{"type":7}`, `{"type":"user_input","text":{}}`, `{"type":"approval_response","id":""}`) + "\n"
	case 8:
		return pick(`{"type":`, "\n", `"cancel"}`)
	}
	time.Sleep(time.Duration(dice.IntN(300)) * time.Microsecond)
	return "\n"
}
