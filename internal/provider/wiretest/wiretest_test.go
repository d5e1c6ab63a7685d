package wiretest

import "testing"

// Each rule must be able to fail.
func TestRules(t *testing.T) {
	call, result := `{"type":"tool_use","id":"a","input":{}}`, `{"type":"tool_result","tool_use_id":"a"}`
	a := func(messages string) []byte { return []byte(`{"max_tokens":9,"messages":[` + messages + `]}`) }
	user := func(s string) string { return `{"role":"user","content":[` + s + `]}` }
	reply := func(s string) string { return `,{"role":"assistant","content":[` + s + `]}` }
	hi := user(`{"type":"text","text":"hi"}`)
	if err := Anthropic(a(hi + reply(call) + "," + user(result))); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"x", hi + "," + hi, user(""), user(`{"type":"text","text":" "}`), hi + reply(call), hi + reply(call) + "," + hi, hi + reply(call+","+call) + "," + user(result),
		hi + reply(`{"type":"thinking"}`), user(result), hi + reply(call) + "," + user(`{"type":"text","text":"x"},`+result), hi + reply(`{"type":"tool_use","id":"a","input":[]}`) + "," + user(result),
	} {
		if Anthropic(a(bad)) == nil {
			t.Errorf("passes: %s", bad)
		}
	}
	o := func(s string) []byte { return []byte(`{"messages":[` + s + `]}`) }
	ask, res := `{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"a","content":"x"}`
	if err := OpenAI(o(ask + "," + res)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"x", ask, res, ask + "," + res + "," + res, `{"role":"user","content":null}`, `{"role":"user","content":""}`, `{"role":"user","content":"a"},{"role":"user","content":"b"}`,
		`{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"arguments":""}}]}` + "," + res, ask + `,{"role":"user","content":"a"},` + res,
	} {
		if OpenAI(o(bad)) == nil {
			t.Errorf("passes: %s", bad)
		}
	}
}
