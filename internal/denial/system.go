package denial

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"anchor/internal/shellread"
)

const byHand = "; a person may run it in a terminal of their own."

// setID are the modes that set a setuid or setgid bit: u+s, g=rs, +s, and four octal digits that start with 2 or 4 to 7.
var setID = regexp.MustCompile(`^0*[24567][0-7]{3}$|(?:^|,)[ugoa]*[+=][rwxXt]*s[rwxXst]*(?:,|$)`)

func (s *scan) privilege(name string, argv []string) {
	deny := func(reason string) { s.deny("privilege escalation", reason+byHand) }
	args := argv[1:]
	switch {
	case is("privilege", name), guessed(name, "sudo su doas pkexec"):
		deny(show(argv[0]) + " gives a command the rights of another user, which is never done here")
	case name == "systemd-run" && strings.Contains(strings.Join(args, " "), "--uid"), name == "machinectl" && len(args) > 0 && args[0] == "shell":
		deny(name + " starts a command as another user, which is never done here")
	case name == "install":
		mode, _ := optionText(args, "-m", "--mode")
		args = append(slices.Clone(args), mode)
		fallthrough
	case name == "chmod":
		if slices.ContainsFunc(args, setID.MatchString) {
			deny(name + " sets a setuid or setgid bit, so that the file runs with the rights of its owner")
		}
	}
	if shellread.Listed("tee cp mv install ln sed rm", name) {
		for _, a := range args {
			s.sudoers(a)
		}
	}
}

// guessed says whether a name with unknown letters in it, but at least two that are known, can be one of a list.
func guessed(name, list string) bool {
	letters := strings.Trim(name, wild)
	if letters == name && !strings.ContainsAny(name, wild) || len(letters) < 2 || strings.ContainsAny(name, unknown+network+"*") && len(name) < 4 {
		return false
	}
	for n := range strings.FieldsSeq(list) {
		if fits(name, n) {
			return true
		}
	}
	return false
}

func (s *scan) sudoers(file string) {
	if p := resolve(s.cwd(), file); p == "/etc/sudoers" || strings.HasPrefix(p, "/etc/sudoers.d/") {
		s.deny("privilege escalation", show(file)+" says who may become root, and it is never changed here"+byHand)
	}
}

// variants are the names of mkfs and newfs with the file system behind.
var variants = regexp.MustCompile(`^(mkfs|mke2fs|newfs|partclone)[._].*`)

// disk finds writes to devices, by programs that are made for it and by any program's output.
func (s *scan) disk(name string, args []string) {
	what := show(name)
	for i, a := range args {
		k, v, ok := strings.Cut(a, "=")
		switch {
		case ok && shellread.Listed("of --output --output-document", k):
			s.device(v, what)
		case i > 0 && shellread.Listed("-o -O --output --output-document", args[i-1]):
			s.device(a, what)
		case strings.HasPrefix(a, "-o/dev/"):
			s.device(a[2:], what)
		}
	}
	name = variants.ReplaceAllString(name, "$1")
	words, looks := fact("disk", name), fact("look", name)
	has := func(list string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return shellread.Listed(list, a) || shellread.Listed(list, strings.ToLower(a)) })
	}
	switch {
	case is("last", name) && len(args) > 1:
		args = args[len(args)-1:]
	case !is("disk", name), words != "" && !has(words), has(looks):
		return
	}
	for _, a := range args {
		s.device(a, what)
		if name == "diskutil" && strings.HasPrefix(a, "disk") {
			s.device("/dev/"+a, what)
		}
	}
}

// blockDevice matches block devices and memory.
var blockDevice = regexp.MustCompile(`^/dev/(?:(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|md|r?disk|nbd|zd|bcache|drbd|sr|mtd|mtdblock|fio|ram|loop|pmem|vg).{1,12}|(?:mapper|zvol|disk)/.*|k?mem|port)$`)

// device denies a write to a file if it is a block device.
func (s *scan) device(file, what string) {
	if p := resolve(s.cwd(), file); blockDevice.MatchString(p) {
		s.deny("raw disk write", what+" writes to the device "+show(p)+" past every file system, and what was there is lost"+byHand)
	}
}

// vital says whether a path, as seen from any place where the shell may be, is a system or home directory, or all in one;
// with onlyAll just the latter.
func (s *scan) vital(word string, onlyAll bool) bool {
	for _, cwd := range s.cwds() {
		p := resolve(cwd.Str, word)
		if p == "" || p != s.env.Dir && strings.HasPrefix(p, s.env.Dir+"/") && s.env.Dir != "/" {
			continue
		}
		whole := p
		for base := path.Base(whole); base != "/" && (strings.Trim(base, "*?.") == "" || path.Dir(whole) == "/" && strings.Trim(base, wild) == ""); base = path.Base(whole) {
			whole = path.Dir(whole) // /etc/* and /etc/.* are all of /etc
		}
		if whole == p && onlyAll || whole != p && whole == s.env.Dir { // rm -rf * in the directory itself
			continue
		}
		if whole == s.env.Home || path.Dir(whole) == "/home" || path.Dir(whole) == "/Users" && whole != "/Users/Shared" {
			return true
		}
		for d := range strings.FieldsSeq(table()["dirs"]) {
			if whole == d || strings.ContainsAny(whole, "*?[") && fits(whole, d) {
				return true
			}
		}
	}
	return false
}

// destroy denies a command if it would destroy a system or home directory.
func (s *scan) destroy(argv, targets []string, onlyAll bool) {
	for _, t := range targets {
		if s.vital(t, onlyAll) {
			s.deny("system deletion", show(strings.Join(argv, " "))+" would destroy "+show(t)+", a system or home directory"+byHand)
		}
	}
}

// deletion judges what deletes, moves away or takes over directories; for find see find.go.
func (s *scan) deletion(name string, argv []string) {
	args, targets := argv[1:], operandsOf(argv[1:])
	has := func(prefix string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, prefix) })
	}
	switch n := len(targets); {
	case shellread.Listed("rm grm srm rimraf", name):
		s.destroy(argv, targets, name != "rimraf" && !recursive(args, "rR"))
	case n == 0:
	case name == "mv" && (has("-t") || has("--target")):
		s.destroy(argv, targets, false)
	case name == "mv":
		s.destroy(argv, targets[:n-1], false)
	case name == "rsync" && has("--del"):
		s.destroy(argv, targets[n-1:], false)
	case shellread.Listed("chmod chown chgrp", name) && recursive(args, "R"):
		s.destroy(argv, slices.DeleteFunc(targets[1:], func(t string) bool { return resolve(s.cwd(), t) == s.env.Home }), false)
	}
}

// recursive says whether one of the short options, perhaps in a bundle, or --recursive, perhaps shortened, is given.
func recursive(args []string, letters string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		if strings.HasPrefix(a, "--") {
			return len(a) > 4 && strings.HasPrefix("--recursive", a)
		}
		return strings.HasPrefix(a, "-") && strings.ContainsAny(a, letters)
	})
}
