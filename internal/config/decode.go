package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"anchor/internal/model"
)

// Error is a fault in a settings file that stops the program.
type Error struct {
	File         string // or the variable, or the flag
	Line, Column int    // both from 1; 0 if the file as a whole is meant
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
	path     string // "providers.work.base_ulr"
	redirect bool   // it may have been meant to send traffic somewhere else
	text     string // the warning
}

// decoder reads one settings file into a struct, key by key, so that only what the file has is changed, each fault has its
// place, and a key that nobody knows is a warning and no error. Keys match exactly, letter case included.
type decoder struct {
	file    string
	data    []byte
	set     map[string]int // where each value that was set stands, by its path
	unknown []unknown
}

// decode reads JSON with comments and trailing commas. A byte order mark is ignored; an empty file sets nothing.
func decode(file string, data []byte, into any) (*decoder, error) {
	d := &decoder{file: file, data: bytes.TrimPrefix(data, []byte("\uFEFF")), set: map[string]int{}}
	if len(bytes.TrimSpace(d.data)) == 0 {
		return d, nil
	}
	if !utf8.Valid(d.data) {
		return nil, &Error{File: file, Message: "is not UTF-8 text; save it as UTF-8"}
	}
	v, err := hujson.Parse(d.data)
	if err != nil {
		return nil, d.syntax(err)
	}
	return d, d.value("", v, reflect.ValueOf(into).Elem())
}

// syntax gives a parser's error, which starts with "hujson: line L, column C: ", the place as its own.
func (d *decoder) syntax(err error) error {
	e := &Error{File: d.file, Message: err.Error()}
	if _, scan := fmt.Sscanf(e.Message, "hujson: line %d, column %d:", &e.Line, &e.Column); scan == nil {
		e.Message = "broken JSON: " + strings.SplitN(e.Message, ": ", 3)[2]
	}
	return e
}

func (d *decoder) at(offset int, format string, args ...any) error {
	before := d.data[:offset]
	return &Error{d.file, 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}

// value reads one value; null is as if it were not there.
func (d *decoder) value(path string, v hujson.Value, to reflect.Value) error {
	object, isObject := v.Value.(*hujson.Object)
	inner := to.Kind() == reflect.Struct || to.Kind() == reflect.Map
	if v.Value.Kind() == 'n' && path != "" {
		return nil
	}
	d.set[path] = v.StartOffset
	if isObject && inner {
		return d.members(path, object, to)
	}
	plain := v.Clone()
	plain.Standardize()
	err := json.Unmarshal(plain.Pack(), to.Addr().Interface())
	if what, ok := takes(to); err != nil || !ok || inner {
		return d.at(v.StartOffset, "%s takes %s", cmp.Or(path, "a settings file"), what)
	}
	return nil
}

// members reads an object into a struct, or over the entries of a map.
func (d *decoder) members(path string, o *hujson.Object, to reflect.Value) error {
	if to.Kind() == reflect.Map && to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	seen := map[string]bool{}
	for _, m := range o.Members {
		key := m.Name.Value.(hujson.Literal).String()
		if seen[key] {
			return d.at(m.Name.StartOffset, "the key %q stands twice in one object; keep one of them", key)
		}
		seen[key] = true
		at := strings.TrimPrefix(path+"."+key, ".")
		if to.Kind() == reflect.Struct {
			i := slices.Index(keys(to.Type()), key)
			if i < 0 {
				d.stray(at, key, m, to.Type())
			} else if err := d.value(at, m.Value, to.Field(i)); err != nil {
				return err
			}
			continue
		}
		entry := reflect.New(to.Type().Elem()).Elem()
		if old := to.MapIndex(reflect.ValueOf(key)); old.IsValid() {
			entry.Set(old)
		}
		if err := d.value(at, m.Value, entry); err != nil {
			return err
		}
		to.SetMapIndex(reflect.ValueOf(key), entry)
	}
	return nil
}

// address is how the key of a server's address is called elsewhere, in small letters without _ and -.
var address = regexp.MustCompile(`ur[li]$|^api$|^(api)?(host|base|server|endpoint|address|gateway|proxy)(name)?$|baseur[il]`)

// alike is how like a known key a mistyped one is, and sure how like the name of a provider, where a wrong guess costs more.
const alike, sure = 0.74, 0.85

// stray notes an unknown key with the nearest known one, of its own level or of a provider's entry.
func (d *decoder) stray(path, key string, m hujson.ObjectMember, t reflect.Type) {
	near, ofProvider := model.Nearest(key, keys(t), alike), model.Nearest(key, keys(reflect.TypeFor[Provider]()), alike)
	vendor, _, _ := strings.Cut(strings.ToLower(key), "_") // of a variable of the environment
	if !slices.Contains(builtInNames(), vendor) {
		vendor = model.Nearest(key, builtInNames(), sure)
	}
	top, inside := path == key, strings.HasPrefix(path, "providers.")
	word := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
	u := unknown{path: path, redirect: near == "baseURL" || near == "providers" || near == "" && (ofProvider == "baseURL" ||
		top && vendor != "" || address.MatchString(word) || inside && strings.Contains(string(m.Value.Pack()), "://"))}
	switch {
	case near != "":
		u.text = fmt.Sprintf("unknown key %q; did you mean %q?", key, near)
	case top && (u.redirect || ofProvider != ""):
		u.text = fmt.Sprintf(`unknown key %q; %q belongs inside "providers": {%q: {…}}`, key, cmp.Or(ofProvider, "baseURL"), cmp.Or(vendor, "NAME"))
	case u.redirect:
		u.text = fmt.Sprintf(`unknown key %q; the address of a server is the "baseURL" of its provider`, key)
	default:
		u.text = fmt.Sprintf("unknown key %q is ignored; known here are %s", key, strings.Join(keys(t), ", "))
	}
	u.text = d.at(m.Name.StartOffset, "%s", u.text).Error()
	d.unknown = append(d.unknown, u)
}

// keys returns the keys of a struct, in the order of its fields; fields that no file sets come last in it.
func keys(t reflect.Type) (out []string) {
	for i := range t.NumField() {
		if key, ok := t.Field(i).Tag.Lookup("json"); ok {
			out = append(out, key)
		}
	}
	return out
}

// takes says what a value takes, and whether it is that as far as its type does not say so already.
func takes(v reflect.Value) (string, bool) {
	if c, ok := v.Interface().(checked); ok {
		return c.check()
	}
	names := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "a list of strings"}
	return cmp.Or(names[v.Kind()], "an object"), true
}
