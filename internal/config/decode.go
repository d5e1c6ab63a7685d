package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Error is a fault in a settings file that stops the program. Its text names the file, the line and the column.
type Error struct {
	File         string
	Line, Column int // both from 1; 0 if the file as a whole is meant
	Message      string
}

// Error returns FILE:LINE:COLUMN: what is wrong.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// unknown is a key that the settings do not have.
type unknown struct {
	path string // "providers.work.base_ulr"
	near string // the known key it may have been meant to be, empty if none is near
	text string // the warning
}

// decoder reads one settings file into a struct, key by key, so that only what the file has is changed, each fault has its
// place, and a key that nobody knows is a warning and no error. Keys match exactly, letter case included.
type decoder struct {
	file    string
	data    []byte
	set     []string // the paths of the values that were set
	unknown []unknown
}

// decode reads JSON with comments and trailing commas. A byte order mark is ignored; an empty file sets nothing.
func decode(file string, data []byte, into any) (*decoder, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	d := &decoder{file: file, data: data}
	if len(bytes.TrimSpace(data)) == 0 {
		return d, nil
	}
	if !utf8.Valid(data) {
		return nil, &Error{File: file, Message: "is not UTF-8 text; save it as UTF-8"}
	}
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, d.syntax(err)
	}
	return d, d.value("", v, reflect.ValueOf(into).Elem())
}

// syntax turns a parser's error, which starts with "hujson: line L, column C: ", into one with a place.
func (d *decoder) syntax(err error) error {
	e := &Error{File: d.file, Message: err.Error()}
	var line, column int
	if _, scan := fmt.Sscanf(e.Message, "hujson: line %d, column %d:", &line, &column); scan == nil {
		_, text, _ := strings.Cut(e.Message, ": ")
		_, text, _ = strings.Cut(text, ": ")
		e.Line, e.Column, e.Message = line, column, "broken JSON: "+text
	}
	return e
}

func (d *decoder) at(offset int, format string, args ...any) *Error {
	before := d.data[:offset]
	return &Error{d.file, 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}

func (d *decoder) value(path string, v hujson.Value, to reflect.Value) error {
	object, isObject := v.Value.(*hujson.Object)
	switch {
	case v.Value.Kind() == 'n': // null: as if it were not there
		return nil
	case to.Kind() == reflect.Struct && isObject:
		return d.fields(path, object, to)
	case to.Kind() == reflect.Map && isObject:
		return d.entries(path, object, to)
	}
	text := v.Clone()
	text.Standardize()
	err := json.Unmarshal(text.Pack(), to.Addr().Interface())
	if what, ok := takes(to); err != nil || !ok {
		return d.at(v.StartOffset, "%s takes %s", cmp.Or(path, "a settings file"), what)
	}
	d.set = append(d.set, path)
	return nil
}

func (d *decoder) fields(path string, o *hujson.Object, to reflect.Value) error {
	for _, m := range o.Members {
		key := m.Name.Value.(hujson.Literal).String()
		i := field(to.Type(), key)
		if i < 0 {
			d.warn(path, key, m.Name.StartOffset, to.Type())
			continue
		}
		if err := d.value(join(path, key), m.Value, to.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) entries(path string, o *hujson.Object, to reflect.Value) error {
	if to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	for _, m := range o.Members {
		key := m.Name.Value.(hujson.Literal).String()
		entry := reflect.New(to.Type().Elem()).Elem()
		if old := to.MapIndex(reflect.ValueOf(key)); old.IsValid() {
			entry.Set(old)
		}
		if err := d.value(join(path, key), m.Value, entry); err != nil {
			return err
		}
		to.SetMapIndex(reflect.ValueOf(key), entry)
	}
	return nil
}

// warn notes an unknown key with the nearest known one, of its own level or of a provider's entry.
func (d *decoder) warn(path, key string, offset int, t reflect.Type) {
	u := unknown{path: join(path, key), near: nearest(key, keys(t))}
	switch {
	case u.near != "":
		u.text = fmt.Sprintf("unknown key %q; did you mean %q?", key, u.near)
	case path == "":
		if u.near = nearest(key, keys(reflect.TypeFor[Provider]())); u.near != "" {
			u.text = fmt.Sprintf("unknown key %q; %q belongs inside \"providers\": {\"NAME\": {…}}", key, u.near)
			break
		}
		fallthrough
	default:
		u.text = fmt.Sprintf("unknown key %q is ignored; known here are %s", key, strings.Join(keys(t), ", "))
	}
	u.text = d.at(offset, "%s", u.text).Error()
	d.unknown = append(d.unknown, u)
}

func field(t reflect.Type, key string) int {
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("json"); tag == key && tag != "-" {
			return i
		}
	}
	return -1
}

func keys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("json"); tag != "" && tag != "-" {
			out = append(out, tag)
		}
	}
	return out
}

// takes says what a value takes, and whether it is that as far as its type does not say so already.
func takes(v reflect.Value) (string, bool) {
	if c, ok := v.Interface().(checked); ok {
		return c.check()
	}
	switch v.Kind() {
	case reflect.String:
		return "a string", true
	case reflect.Slice:
		return "a list of strings", true
	}
	return "an object", true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// nearest returns the known word that a mistyped one was most likely meant to be: equal but for letter case, _ and -, or at
// most two letters (one of a short word) away.
func nearest(word string, known []string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	best, least := "", 3
	if len(word) < 5 {
		least = 2
	}
	for _, k := range known {
		if d := distance(plain(word), plain(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
